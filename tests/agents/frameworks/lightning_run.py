"""A real Lightning run on a CPU: accumulates, validates and saves, and may break off."""

import sys
import time
import warnings

import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.plugins.io import TorchCheckpointIO
from stopwatch import Stopwatch
from torch.utils.data import DataLoader

from runrate import lightning as runrate_lightning
from runrate.lightning import RunrateCallback

runrate_lightning.LOSS_SECONDS = 0.0
warnings.filterwarnings("ignore")
folder, ends = sys.argv[1:3]
watch = Stopwatch()
BATCHES, ACCUMULATED, EPOCHS = 8, 4, 2


class Waited:
    """A loader that makes its trainer wait."""

    def __init__(self):
        self.loader = DataLoader(torch.ones(BATCHES, 4), batch_size=1)

    def __len__(self):
        return BATCHES

    def __iter__(self):
        return watch.batches(self.loader, 0.2)


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        with watch.of("productive"):
            time.sleep(0.25)
            if ends == "fails" and self.trainer.global_step == 3:
                raise RuntimeError("loss is not a number")
            if ends == "diverges" and self.trainer.global_step == 3:
                self.layer.weight.data.fill_(float("nan"))
            return self.layer(batch).sum()

    def validation_step(self, batch, index):
        time.sleep(0.3)
        # The second time it is worse.
        self.log("val_loss", float(self.trainer.global_step))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Slow(TorchCheckpointIO):
    def save_checkpoint(self, *given, **named):
        time.sleep(0.4)
        super().save_checkpoint(*given, **named)


class Validation(RunrateCallback):
    """The same hooks with a hand on the stopwatch: from outside, as a person would."""

    def on_validation_start(self, trainer, module):
        super().on_validation_start(trainer, module)
        if not trainer.sanity_checking:
            self.watched = watch.of("evaluation")
            self.watched.__enter__()

    def on_validation_end(self, trainer, module):
        if not trainer.sanity_checking:
            self.watched.__exit__(None, None, None)
        super().on_validation_end(trainer, module)


model = Model()
optimizer = model.configure_optimizers()
model.layer(torch.ones(1, 4)).sum().backward()
optimizer.step()
trainer = Trainer(
    max_epochs=EPOCHS, accumulate_grad_batches=ACCUMULATED, accelerator="cpu", logger=False,
    enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder,
    callbacks=[
        Validation(workload="finetune", name="lit", tokens_of=lambda batch: 10),
        ModelCheckpoint(folder, monitor="val_loss", mode="min", save_top_k=-1, save_last=True),
    ],
    plugins=[Slow()], num_sanity_val_steps=1,
)  # fmt: skip
real = trainer.save_checkpoint


def save(*given, **named):
    with watch.of("checkpoint_save"):
        real(*given, **named)


trainer.save_checkpoint = save
try:
    trainer.fit(model, Waited(), DataLoader(torch.ones(2, 4), batch_size=1))
finally:
    watch.tell(steps=trainer.global_step)
