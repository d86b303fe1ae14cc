"""A real Hugging Face Trainer on a CPU: accumulates, evaluates and saves, and may break off."""

import sys
import time
import warnings

import torch
from stopwatch import Stopwatch
from torch.utils.data import DataLoader, Dataset
from transformers import Trainer, TrainingArguments

from runrate.hf import RunrateCallback

warnings.filterwarnings("ignore")
folder, ends = sys.argv[1:3]
watch = Stopwatch()
STEPS, ACCUMULATED = 6, 2


class Rows(Dataset):
    def __len__(self):
        return STEPS * ACCUMULATED

    def __getitem__(self, index):
        return {"input_ids": torch.ones(8, dtype=torch.long), "labels": torch.ones(1)}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def forward(self, input_ids, labels):
        out = self.layer(input_ids.float())
        return {"loss": (out - labels).pow(2).mean(), "logits": out}


class Waited:
    """A loader that makes its trainer wait."""

    def __init__(self, loader):
        self.loader, self.dataset = loader, loader.dataset
        self.batch_size, self.sampler = loader.batch_size, loader.sampler

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        return watch.batches(self.loader, 0.2)


class Timed(Trainer):
    def get_train_dataloader(self):
        return Waited(DataLoader(self.train_dataset, batch_size=1))

    def training_step(self, *given, **named):
        with watch.of("productive"):
            time.sleep(0.25)
            if ends == "fails" and self.state.global_step == 3:
                raise RuntimeError("loss is not a number")
            if ends == "diverges" and self.state.global_step == 3:
                model.layer.weight.data.fill_(float("nan"))
            return super().training_step(*given, **named)

    def evaluate(self, *given, **named):
        with watch.of("evaluation"):
            time.sleep(0.5)
            return super().evaluate(*given, **named)

    def _save_checkpoint(self, *given, **named):
        with watch.of("checkpoint_save"):
            time.sleep(0.5)
            return super()._save_checkpoint(*given, **named)


model = Model()
model(torch.ones(1, 8), torch.ones(1))["loss"].backward()
torch.optim.AdamW(model.parameters()).step()
trainer = Timed(
    model=model,
    args=TrainingArguments(
        folder, max_steps=STEPS, per_device_train_batch_size=1, use_cpu=True,
        gradient_accumulation_steps=ACCUMULATED, eval_strategy="steps", eval_steps=2,
        save_strategy="steps", save_steps=2, logging_steps=2, report_to=[], disable_tqdm=True,
        include_num_input_tokens_seen="all", label_names=["labels"],
    ),
    train_dataset=Rows(), eval_dataset=torch.utils.data.Subset(Rows(), [0]),
    callbacks=[RunrateCallback(workload="finetune", name="hf")],
)  # fmt: skip
try:
    trainer.train()
finally:
    watch.tell(steps=trainer.state.global_step)
