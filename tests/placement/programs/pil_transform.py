# devices: cuda:0,cpu
# causes: input-not-moved
import torch
from PIL import Image
from torchvision import models, transforms

tf = transforms.Compose([transforms.Resize(224), transforms.ToTensor()])

def load_image(path):
    img = Image.open(path).convert("RGB")
    return tf(img).unsqueeze(0)

def predict(path):
    net = models.resnet18(weights=None).cuda().eval()
    x = load_image(path)  # here
    with torch.no_grad():
        return net(x).softmax(1)  # fails

predict("a.jpg")
