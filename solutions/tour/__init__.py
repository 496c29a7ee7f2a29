"""The code that transformer.ipynb and train.py use besides yours. It is not graded, and you do not need to read it.

controls          show() and play() put pictures and tables into the notebook, play() with sliders above them
predictions       predict() asks a question before a picture, which appears after your answer
reference_values  checks whether your functions give the right numbers
tables            tables that compare numbers printed in the lecture notes with yours
pictures          the pictures, drawn with your functions
plotting          colours, axes, coloured tables and arrows, shared by all pictures
examples          tiny networks to experiment with
ladder            after each module, a small model of your functions that writes names
names             a small trained model of first names, in the parameter format of your decoder
corpus            texts to train on
backward          forward pass, backward pass and optimiser of a whole decoder; train.py trains with it
training_panel    the buttons and the live curve of a training
"""

import runpy
import sys
from pathlib import Path

if reason := runpy.run_path(str(Path(__file__).parents[1] / "checks" / "student_setup.py"))["obstacle"]():
    sys.exit(reason)
