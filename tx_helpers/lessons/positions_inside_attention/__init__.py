"""What the notebook "Positions inside attention" alone uses.

exercises        exercises on positions inside attention
exercises_cache  two exercises that build a step of writing with rotary positions
hands            drag the hands of a head's eight clocks, and watch its score
needles          why stretching ruins one model and helps another
position_bias    the explorer of terms in the score
rotary           the explorer of stretched rotary positions: what becomes of a head's clocks on a longer text
settings         how today's models set rotary positions, each setting tried on a small model
"""
