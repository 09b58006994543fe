"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "spectral-radius": (
        Move("Spectral radius", r"Spectral radius 0\.60: .* It vanishes\.", keys=("ArrowLeft",) * 4),
        Move("Spectral radius", r"Spectral radius 1\.60: .* It explodes\.", mouse="drag"),
    ),
    "forgotten": (
        Move("Word", r"At word 20, 'to', models untrained\. .*: RNN under 0\.1%, LSTM", keys=("ArrowLeft",)),
        Move(
            "Models",
            r"At word 20, 'to', models trained\. .* RNN (under )?0\.\d%, .* attention [5-9]\d\.|100",
            mouse="choose:trained",
        ),
        Move("Word", r"At word 10, 'bank', models trained\.", keys=("ArrowLeft",) * 10),
        Move("Word", r"At word 21, 'bed', models trained\.", mouse="drag"),
        Move("Word", r"At word 4, '[^']+', models trained\.", mouse="point:word=4"),
    ),
    "signal-race": (
        Move("Step", r"After step 2, .*: recurrence 2 of 16, convolution 4 of 16, dilated", keys=("ArrowRight",)),
        Move("Play", r"After step 16, .*: recurrence arrived after 16, convolution arrived", mouse="click"),
        Move("Distance", r"recurrence 16 of 17, convolution arrived after 9,", keys=("ArrowRight",)),
        Move("Kernel width", r"kernel width 9: .* convolution arrived after 3, .* attention", mouse="drag"),
    ),
}
