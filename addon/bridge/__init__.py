"""Between Blender and the core. Only here are the user's curves read and written."""
