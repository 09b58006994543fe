"""What the commonest errors of PyTorch mean, in a sentence each: the first row whose pattern is found is told."""

import re

FAMILIES = (  # a pattern of "TypeOfError: its text (in function, line 3: `the code`)", and what it means
    (
        r"(?:The size of tensor a|for first two dimensions of batch2).*`.*\.T\b",
        "two shapes do not fit together. With a batch in front, .T turns all axes round; .mT swaps the last two alone",
    ),
    (
        r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
        "two shapes do not fit together: along axis {2} one has {0} entries and the other {1}. Print both shapes; an "
        "axis may be missing (keepdim=True, unsqueeze) or in another place",
    ),
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        "in A @ B the columns of A, here {1}, must be as many as the rows of B, here {2}. Should one of them be "
        "transposed (.mT)?",
    ),
    (
        r"for first two dimensions of batch2 tensor|size mismatch, got input|inconsistent tensor size",
        "in A @ B the last axis of A must be as long as the last but one of B. Should one of them be transposed (.mT)?",
    ),
    (
        r"Dimension out of range|too many indices for tensor|must have same number of dim|at least 2 dim",
        "a tensor has fewer axes than this line takes for granted. Print its shape",
    ),
    (
        r"The expanded size of the tensor.*\] ?= ?",
        "what stands right of = has another shape than its place on the left. Print both shapes",
    ),
    (
        r"Sizes of tensors must match except|expects each tensor to be equal size|The expanded size of the tensor",
        "the tensors that are put together differ in an axis in which they must be alike. Print their shapes",
    ),
    (
        r"Boolean value of Tensor",
        "`if`, `and`, `or` and Python's max and min decide once, but a tensor has many truth values. Use torch.where, "
        "&, |, clamp or torch.maximum, which work entry by entry",
    ),
    (
        r"but got float|must be tuple of ints|'float' object cannot be interpreted|slice indices must be integers|"
        r"must be int, not float",
        "a size or a place is a whole number, and / always gives a float. Divide with //",
    ),
    (
        r"view size is not compatible",
        "view cannot read a transposed tensor, whose numbers lie in another order. Use reshape, or contiguous() first",
    ),
    (
        r"shape '(.*)' is invalid for input of size (\d+)",
        "the new shape {0} does not have room for exactly {1} numbers",
    ),
    (
        r"operator\.invert|\"bitwise_\w+\" not implemented",
        "~, & and | work on truth values, not on floats. Compare first (x > 0), or call .bool()",
    ),
    (
        r"only support\w* floating point|could not infer output dtype|not implemented for '(?:Long|Int|Bool)'",
        "this works on floats, and the tensor holds whole numbers or truth values. Call .float() first",
    ),
    (
        r"to have the same dtype, but got: (\w[\w ]*) != (\w[\w ]*)",
        "the two tensors have different dtypes, {0} and {1}. Bring one to that of the other: a.to(b.dtype)",
    ),
    (
        r"torch\.return_types\.(\w+)",
        "{0} along an axis gives a pair, values and indices. Take the values: .{0}(…).values",
    ),
    (
        r"before Module\.__init__\(\) call|has no attribute '_(?:backward_hooks|modules|parameters)'",
        "the __init__ of an nn.Module begins with super().__init__()",
    ),
    (
        r"Expected target size|Expected input batch_size \((\d+)\) to match",
        "F.cross_entropy wants the classes in axis 1: (N, V) with targets (N,), or (B, V, T) with (B, T). Flatten B "
        "and T of both, or swap the last two axes of the logits (.mT)",
    ),
    (
        r"expected target dtype to be Long",
        "F.cross_entropy takes ids as targets, whole numbers, or probabilities in the shape of the logits",
    ),
    (
        r"cannot be converted to Scalar|only one element tensors can be converted",
        "a tensor of several numbers stands where one number is needed. Has a sum or a mean been left out, or an axis?",
    ),
    (
        r"index out of range in self|Target (\d+) is out of bounds",
        "an id is not below the size of its table. Ids count from 0 to V − 1",
    ),
    (
        r"list index out of range|index -?\d+ is out of bounds",
        "an index points behind the end: there are fewer entries than this line takes for granted, or none yet",
    ),
    (
        r"only supports boolean masks|tensors used as indices must be|condition to be a boolean tensor",
        "a mask must hold True and False, and an index whole numbers. Compare (mask == 0), or use .bool(), .long()",
    ),
    (
        r"argument '(?:input|other)' \(position \d\) must be Tensor, not (\w+)",
        "this function of torch takes a tensor, and gets a Python {0}. For single numbers take `math`, or make a "
        "tensor of it",
    ),
    (
        r"'NoneType' (?:and|object)|and 'NoneType'",
        "a value is None. Does one of your functions or methods lack its `return`?",
    ),
)


def in_plain_words(problem: str) -> str:
    """What an error means, in a clause; "" if it belongs to no family."""
    for pattern, meaning in FAMILIES:
        if found := re.search(pattern, problem):
            return meaning.format(*(part or "" for part in found.groups()))
    return ""
