"""What the notebook "Adapting a model" alone uses.

drift                what DPO moves on its way, recorded for several β
exercises            exercises on adapting a pretrained model
facts                does fine-tuning teach facts? Nine people get a pet each; the model reads so, and is then asked
few_labels           the same classifier from 10, 30, 100 or 1,000 labelled texts
few_labels_explorer  its explorer: labels against accuracy, four ways of learning
few_shot             examples in the prompt: on which kind of data does a model learn to use them, and when?
forgetting           what fine-tuning forgets
lora                 LoRA: to fine-tune a model, train two narrow matrices beside each large one
preferences          learning from pairs of answers of which people prefer one (DPO)
recorded_explorers   explorers of what `drift` and `forgetting` recorded
scored               what is scored in a chat decides what a model learns: three choices, recorded
"""
