"""The levels of a cluster: chip, node, network, each with its bandwidth: figures/cluster_levels.svg"""

from canvas import BLUE, GOLD, GREEN, INK, MUTED, PINK, SMALL, Canvas, save

TITLE = "A cluster has levels, and each talks more slowly than the one inside it"
DESCRIPTION = (
    "Three nested boxes. The innermost is a GPU, an H100: it computes 989 trillion operations a second and reads its "
    "80 GB of memory at 3,350 GB/s. Around it is a node of 8 GPUs, which reach each other through NVLink at 450 GB/s "
    "in each direction. Around that is the cluster, nodes joined by a network with 50 GB/s for each GPU. Below are "
    "three bars for the time that one gigabyte takes: 0.3 milliseconds from the GPU's own memory, 2.2 from another GPU "
    "of the node, 20 from another node."
)
TIMES = (  # what one gigabyte passes, milliseconds, colour
    ("a GPU's own memory", 1000 / 3350, GREEN),
    ("NVLink, in a node", 1000 / 450, BLUE),
    ("the network", 1000 / 50, PINK),
)


def draw() -> Canvas:
    canvas = Canvas("cluster_levels", 412, title=TITLE, description=DESCRIPTION)
    canvas.heading("The levels of a cluster", "Each talks more slowly than the one inside it. Here with H100 GPUs.")
    canvas.box(28, 78, 744, 190, fill=PINK.tint, stroke=PINK.full, radius=10)
    canvas.text(44, 102, "cluster: many nodes", bold=True, colour=PINK.shade)
    canvas.text(756, 102, "network, 50 GB/s for each GPU", size=SMALL, colour=PINK.shade, anchor="end")
    node(canvas, 44, 0)
    node(canvas, 548, 4)
    canvas.line((466, 182), (542, 182), colour=PINK.full, thickness=2)
    canvas.line((542, 182), (466, 182), colour=PINK.full, thickness=2)
    canvas.text(504, 168, "network", size=SMALL, colour=PINK.shade, anchor="middle")
    canvas.text(28, 302, "One gigabyte takes", bold=True)
    longest = max(time for _, time, _ in TIMES)
    for row, (name, time, colour) in enumerate(TIMES):
        y = 318 + 28 * row
        canvas.text(180, y + 14, name, size=SMALL, colour=MUTED, anchor="end")
        canvas.box(190, y, 490 * time / longest, 20, fill=colour.full, radius=3)
        canvas.text(198 + 490 * time / longest, y + 15, f"{time:.2g} ms", size=SMALL)
    return canvas


def node(canvas: Canvas, left: float, narrow: int) -> None:
    """A node: the GPU that is looked at, and the others; or, narrow, only a hint of one."""
    width = 208 if narrow else 418
    canvas.box(left, 114, width, 138, fill=BLUE.tint, stroke=BLUE.full, radius=10)
    canvas.text(left + 14, 138, "another node" if narrow else "node: 8 GPUs", bold=True, colour=BLUE.shade)
    if narrow:
        for number in range(8):
            canvas.box(
                left + 14 + 46 * (number % 4), 152 + 42 * (number // 4), 40, 36, fill=GREEN.tint, stroke=GREEN.full
            )
        return
    canvas.text(left + 404, 138, "NVLink, 450 GB/s", size=SMALL, colour=BLUE.shade, anchor="end")
    canvas.box(left + 14, 150, 248, 90, fill=GREEN.tint, stroke=GREEN.full, radius=8)
    canvas.text(left + 26, 172, "GPU", bold=True, colour=GREEN.shade)
    canvas.box(
        left + 26, 182, 88, 46, ["989 · 10¹²", "a second"], fill=GOLD.tint, stroke=GOLD.full, colour=INK, size=SMALL
    )
    canvas.box(left + 182, 182, 68, 46, ["80 GB"], fill="#FFFFFF", stroke=GREEN.full, colour=INK, size=SMALL)
    canvas.line((left + 178, 206), (left + 118, 206), colour=GREEN.shade, thickness=2)
    canvas.text(left + 148, 176, "3,350 GB/s", size=SMALL, colour=GREEN.shade, anchor="middle")
    for number in range(7):
        x, y = left + 282 + 32 * (number % 4), 152 + 46 * (number // 4)
        canvas.box(x, y, 26, 38, fill=GREEN.tint, stroke=GREEN.full)
    canvas.line((left + 264, 194), (left + 280, 194), colour=BLUE.full, thickness=2)


if __name__ == "__main__":
    save(draw())
