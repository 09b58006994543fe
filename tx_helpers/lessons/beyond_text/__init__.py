"""What the notebook "Beyond text" alone uses.

amounts            a vision model against convolutions of equal size and of equal cost, over several amounts of data
arm                a hand over a small table that carries out orders
arm_episode        step through an episode: the order, the table as it is, the two action tokens and their chances
caption_search     choose a caption, see which new pictures a trained model ranks first
captions           picture and caption in one space: two small Transformers, trained only to find each other's partner
digit_attention    where a tiny ViT looks when it reads a digit
digits             1,797 handwritten digits of 8 × 8 pixels: small enough to train a model that sees in seconds
drawn_shapes       pictures of 16 × 16 pixels with a drawn shape or two, and a caption for each
exercises          exercises on tokens that are no words
exercises_inline   the exercises that stand where the notebook needs them
patch_size         cut a digit into larger or smaller patches: tokens, cost, and how many digits are right
picture_answers    ask a decoder about a picture: its answer, and where it looks
picture_questions  a picture inside a decoder's row
small_models       what the lesson's small models share: their blocks, and a training on new examples
stored_weights     weights that come with the lesson, in half the bytes: float16 in a safetensors file
vit                a Transformer that sees
"""
