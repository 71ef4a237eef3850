// Job type of Flamenco: bakes the rods of a .blend file with Tendril, then renders its frames in chunks that depend on the bake.
// Copy this file to the folder `scripts` of the Flamenco Manager. Every worker needs Blender with the extension Tendril.

const JOB_TYPE = {
    label: "Tendril: Bake and Render",
    description: "Simulate the rods of the file in one task, then render chunks of frames that verify the cache first",
    settings: [
        { key: "frames", type: "string", required: true,
          eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
          evalInfo: { showLinkButton: true, description: "Scene frame range" },
          description: "Frames to render, for instance '1-120' or '1,5,9'" },
        { key: "chunk_size", type: "int32", default: 10, visible: "submission",
          description: "Frames that one task renders" },
        { key: "threads", type: "int32", default: 0, visible: "submission",
          description: "Cores of the simulation, 0 for all; the result is the same for any number" },
        { key: "render_output_root", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder for the frames" },
        { key: "render_output_path", type: "string", subtype: "file_path", editable: false, visible: "web",
          eval: "str(Path(abspath(settings.render_output_root), jobname, '######'))",
          description: "Path of the frames, with # for digits of the frame number" },
        { key: "blendfile", type: "string", required: true, editable: false, visible: "web",
          eval: "bpy.data.filepath", description: "The .blend file; its cache is written next to it" },
    ],
};

// Runs a task of the extension, whatever repository it was installed from.
const ENTRY = "import importlib, os, sys, bpy; "
    + "names = [n for n in bpy.context.preferences.addons.keys() if n.rpartition('.')[2] == 'tendril'] or "
    + "sys.exit('The extension Tendril is not enabled in this Blender'); "
    + "threads = '%THREADS%'; threads == '0' or os.environ.update(TENDRIL_THREADS=threads); "
    + "importlib.import_module(names[0] + '.addon.farm').main()";

function compileJob(job) {
    const settings = job.settings;
    const bake = blenderTask("bake", settings, ["bake"]);
    job.addTask(bake);
    for (const chunk of frameChunker(settings.frames, settings.chunk_size)) {
        const render = blenderTask("render-" + chunk, settings,
            ["render", "--frames", chunk, "--output", settings.render_output_path]);
        render.addDependency(bake);
        job.addTask(render);
    }
}

function blenderTask(name, settings, words) {
    const task = author.Task(name, "blender");
    task.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: ["--python-exit-code", "2"],
        blendfile: settings.blendfile,
        args: ["--python-expr", ENTRY.replace("%THREADS%", String(settings.threads)), "--", ...words],
    }));
    return task;
}
