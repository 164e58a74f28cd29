# SPDX-License-Identifier: Apache-2.0
"""Networks of the years of Caffe, narrower than published and on small pictures, with seeded random weights."""
import numpy

from caffe_model import Net


def vgg16():
    """In version 1 of the format, with weights in legacy shapes."""
    net = Net("vgg16", (1, 3, 64, 64), 1, is_v1=True)
    x = "data"
    for block, (count, repeats) in enumerate(((16, 2), (32, 2), (64, 3), (128, 3), (128, 3)), 1):
        for i in range(1, repeats + 1):
            x = net.relu(net.conv(f"conv{block}_{i}", x, count, 3, pad=1))
        x = net.pool(f"pool{block}", x, 2, 2)
    for i, inputs in ((6, 128 * 4), (7, 256)):
        x = net.relu(net.dense(f"fc{i}", x, 256, inputs))
        x = net.layer("Dropout", f"drop{i}", x, [x], "dropout_param { dropout_ratio: 0.5 }")
    net.softmax(net.dense("fc8", x, 100, 256))
    return net


def resnet50():
    net = Net("resnet50", (1, 3, 64, 64), 2)
    x = net.relu(net.batch_norm(net.conv("conv1", "data", 16, 7, 2, 3)))
    x = net.pool("pool1", x, 3, 2)
    for stage, (count, blocks) in enumerate(((16, 3), (32, 4), (64, 6), (128, 3)), 2):
        for block in "abcdef"[:blocks]:
            name = f"res{stage}{block}"
            stride = 2 if block == "a" and stage > 2 else 1
            short = x
            if block == "a":
                short = net.batch_norm(net.conv(f"{name}_branch1", x, 4 * count, 1, stride, bias=False, gain=1))
            y = net.relu(net.batch_norm(net.conv(f"{name}_branch2a", x, count, 1, stride, bias=False)))
            y = net.relu(net.batch_norm(net.conv(f"{name}_branch2b", y, count, 3, 1, 1, bias=False)))
            y = net.batch_norm(net.conv(f"{name}_branch2c", y, 4 * count, 1, bias=False, gain=0.3))
            x = net.relu(net.layer("Eltwise", name, [short, y]))
    x = net.pool("pool5", x, 2, 1, method="AVE")
    net.softmax(net.dense("fc1000", x, 100, 512))
    return net


def squeezenet():
    """Version 1.1."""
    net = Net("squeezenet", (1, 3, 99, 99), 3)
    x = net.pool("pool1", net.relu(net.conv("conv1", "data", 64, 3, 2)), 3, 2)
    for i, (squeeze, expand) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)), 2):
        s = net.relu(net.conv(f"fire{i}/squeeze1x1", x, squeeze, 1))
        parts = [net.relu(net.conv(f"fire{i}/expand1x1", s, expand, 1)),
                 net.relu(net.conv(f"fire{i}/expand3x3", s, expand, 3, pad=1))]
        x = net.concat(f"fire{i}/concat", parts)
        if i in (3, 5):
            x = net.pool(f"pool{i}", x, 3, 2)
    x = net.layer("Dropout", "drop9", x, [x])
    net.softmax(net.global_pool("pool10", net.relu(net.conv("conv10", x, 100, 1))))
    return net


def mobilenet_layers(net, width, strides=(1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)):
    """MobileNet v1 up to its pool; the names of its blocks' results."""
    counts = (64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024)
    x = net.relu(net.batch_norm(net.conv("conv0", "data", int(32 * width), 3, 2, 1, bias=False)))
    results = []
    for i, (count, stride) in enumerate(zip(counts, strides), 1):
        channels = net.channels[x]
        x = net.relu(net.batch_norm(net.conv(f"conv{i}/dw", x, channels, 3, stride, 1, group=channels, bias=False)))
        x = net.relu(net.batch_norm(net.conv(f"conv{i}", x, int(count * width), 1, bias=False)))
        results.append(x)
    return results


def mobilenet():
    net = Net("mobilenet", (2, 3, 64, 64), 4)
    x = mobilenet_layers(net, 0.5)[-1]
    net.softmax(net.conv("fc7", net.global_pool("pool6", x), 100, 1, gain=1))
    return net


def googlenet():
    net = Net("googlenet", (1, 3, 96, 96), 5)
    lrn = "lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 }"
    x = net.pool("pool1", net.relu(net.conv("conv1", "data", 32, 7, 2, 3)), 3, 2)
    x = net.layer("LRN", "norm1", x, params=lrn)
    x = net.relu(net.conv("conv2_reduce", x, 32, 1))
    x = net.layer("LRN", "norm2", net.relu(net.conv("conv2", x, 96, 3, pad=1)), params=lrn)
    x = net.pool("pool2", x, 3, 2)
    sizes = {"3a": (64, 96, 128, 16, 32, 32), "3b": (128, 128, 192, 32, 96, 64), "4a": (192, 96, 208, 16, 48, 64),
             "4b": (160, 112, 224, 24, 64, 64), "4c": (128, 128, 256, 24, 64, 64), "4d": (112, 144, 288, 32, 64, 64),
             "4e": (256, 160, 320, 32, 128, 128), "5a": (256, 160, 320, 32, 128, 128), "5b": (384, 192, 384, 48, 128, 128)}
    for name, counts in sizes.items():
        one, reduce3, three, reduce5, five, proj = (count // 2 for count in counts)
        part3 = net.relu(net.conv(f"{name}/3x3_reduce", x, reduce3, 1))
        part5 = net.relu(net.conv(f"{name}/5x5_reduce", x, reduce5, 1))
        x = net.concat(f"{name}/output", [
            net.relu(net.conv(f"{name}/1x1", x, one, 1)), net.relu(net.conv(f"{name}/3x3", part3, three, 3, pad=1)),
            net.relu(net.conv(f"{name}/5x5", part5, five, 5, pad=2)),
            net.relu(net.conv(f"{name}/pool_proj", net.pool(f"{name}/pool", x, 3, 1, 1), proj, 1))])
        if name in ("3b", "4e"):
            x = net.pool(f"pool_{name}", x, 3, 2)
    x = net.global_pool("pool5", x)
    net.softmax(net.dense("classifier", x, 100, net.channels[x]))
    return net


def mobilenet_ssd():
    """Two feature maps, three kinds of boxes on the first and six on the second, five classes."""
    net = Net("mobilenet_ssd", (1, 3, 96, 96), 6)
    results = mobilenet_layers(net, 0.25)
    heads = {"loc": [], "conf": [], "prior": []}
    boxes = ((results[10], 3, "min_size: 20 aspect_ratio: 2"), (results[12], 6, "min_size: 40 max_size: 60 aspect_ratio: 2 aspect_ratio: 3"))
    for i, (x, count, prior) in enumerate(boxes):
        for kind, size, gain in (("loc", 4, 0.1), ("conf", 5, 4)):
            y = net.conv(f"{kind}{i}", x, count * size, 1, gain=gain)
            y = net.layer("Permute", f"{kind}{i}_perm", y, params="permute_param { order: 0 order: 2 order: 3 order: 1 }")
            heads[kind].append(net.layer("Flatten", f"{kind}{i}_flat", y, params="flatten_param { axis: 1 }"))
        variances = "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2"
        heads["prior"].append(net.layer("PriorBox", f"prior{i}", [x, "data"],
                                        params=f"prior_box_param {{ {prior} flip: true clip: false {variances} offset: 0.5 }}"))
    loc, conf = net.concat("mbox_loc", heads["loc"]), net.concat("mbox_conf", heads["conf"])
    prior = net.concat("mbox_priorbox", heads["prior"], axis=2)
    conf = net.layer("Reshape", "mbox_conf_reshape", conf, params="reshape_param { shape { dim: 0 dim: -1 dim: 5 } }")
    conf = net.layer("Softmax", "mbox_conf_softmax", conf, params="softmax_param { axis: 2 }")
    conf = net.layer("Flatten", "mbox_conf_flatten", conf, params="flatten_param { axis: 1 }")
    net.layer("DetectionOutput", "detection_out", [loc, conf, prior], params=(
        "detection_output_param { num_classes: 5 share_location: true background_label_id: 0 nms_param { nms_threshold: "
        "0.45 top_k: 100 } code_type: CENTER_SIZE keep_top_k: 100 confidence_threshold: 0.75 }"))
    return net


def fcn():
    """A segmenter: skips, transposed convolutions, Crop."""
    net = Net("fcn", (1, 3, 50, 45), 7)
    x = net.pool("pool1", net.relu(net.conv("conv1", "data", 16, 3, pad=10)), 2, 2)
    skip = x = net.pool("pool2", net.relu(net.conv("conv2", x, 32, 3, pad=1)), 2, 2)
    x = net.pool("pool3", net.relu(net.conv("conv3", x, 32, 3, pad=1)), 2, 2)
    score = net.conv("score", net.relu(net.conv("fc6", x, 64, 3)), 7, 1)
    skip = net.conv("score_skip", skip, 7, 1)
    ramp = 1 - abs((2 * numpy.arange(4) - 3) / 4)
    net.weights["up2"] = [net.random.normal(0, 0.3, (7, 7, 4, 4))]
    x = net.layer("Deconvolution", "up2", score, params="convolution_param { num_output: 7 kernel_size: 4 stride: 2 bias_term: false }")
    skip = net.layer("Crop", "crop_skip", [skip, x], params="crop_param { axis: 2 offset: 1 }")
    x = net.layer("Eltwise", "fuse", [x, skip], params="eltwise_param { operation: SUM }")
    net.weights["up4"] = [(ramp[:, None] * ramp)[None, None].repeat(7, 0)]
    x = net.layer("Deconvolution", "up4", x, params="convolution_param { num_output: 7 group: 7 kernel_size: 4 stride: 4 bias_term: false }")
    net.layer("Crop", "prediction", [x, "data"], params="crop_param { axis: 2 offset: 3 offset: 5 }")
    return net


def shufflenet():
    net = Net("shufflenet", (1, 3, 64, 64), 8)
    x = net.pool("pool1", net.relu(net.batch_norm(net.conv("conv1", "data", 24, 3, 2, 1, bias=False))), 3, 2)
    for stage, (count, blocks) in enumerate(((60, 3), (120, 3)), 2):
        for block in range(blocks):
            name, stride = f"stage{stage}_{block}", 1 if block else 2
            branch = count if block else count - net.channels[x]
            groups = 3
            y = net.relu(net.batch_norm(net.conv(f"{name}_a", x, 60, 1, group=groups, bias=False)))
            y = net.layer("ShuffleChannel", f"{name}_shuffle", y, params="shuffle_channel_param { group: 3 }")
            y = net.batch_norm(net.conv(f"{name}_dw", y, 60, 3, stride, 1, group=60, bias=False))
            y = net.batch_norm(net.conv(f"{name}_b", y, branch, 1, group=groups, bias=False, gain=0.5))
            if block:
                x = net.layer("Eltwise", name, [x, y])
            else:
                x = net.concat(name, [net.pool(f"{name}_pool", x, 3, 2, method="AVE"), y])
            x = net.relu(x)
    net.softmax(net.dense("fc", net.global_pool("pool", x), 50, 120))
    return net


NETWORKS = (vgg16, resnet50, squeezenet, mobilenet, googlenet, mobilenet_ssd, fcn, shufflenet)
