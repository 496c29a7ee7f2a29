"""Code that transformer.ipynb and train.py use in addition to your own functions. Nothing here is graded, and you do not need to read it.

controls          show() and play() put pictures and tables into the notebook, play() with sliders above them
predictions       predict() asks a question before a picture, which appears after your answer
reference_values  whether your functions give the right numbers
tables            tables of numbers, those printed in the lecture notes beside yours
pictures          the pictures: each draws with the functions of yours that it is given
plotting          colours, axes, tables of colour and arrows, shared by all pictures
examples          tiny networks to experiment with
names             a small trained model of first names, in the parameters of your decoder
corpus            texts to train on
backward          forward pass, backward pass and optimiser of a whole decoder; train.py trains with it
training_panel    the buttons and the live curve of a training
"""
