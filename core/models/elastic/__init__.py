"""The elastic model of rods (`der`) and nets (`net`): discrete elastic rods on a graph of segments, implicit."""
