# SPDX-License-Identifier: Apache-2.0
"""Operators of detection networks, and others that count, bag or transform."""
import numpy as np
import openvino as ov

from .case import Case, const, integers, node, normal, text, uniform, weights
from .movement import i64

o1 = ov.opset1


def boxes(rng, count, extent):
    """Boxes with x1 <= x2 and y1 <= y2."""
    corners = np.sort(rng.uniform(0, extent, (count, 2, 2)), axis=1)
    return corners.reshape(count, 4).astype(np.float32)


def regions(count, batches, extent):
    def make(rng):
        return np.concatenate([rng.integers(0, batches, (count, 1)), boxes(rng, count, extent)], 1).astype(np.float32)
    return make


def region_cases():
    for scale, extent in ((1.0, 9.0), (0.25, 40.0)):
        for size in ((2, 2), (1, 1), (3, 4)):
            yield Case(f"ROIPooling_max_{text(size)}_{extent:.0f}", "ROIPooling",
                       [normal(2, 3, 8, 10), regions(5, 2, extent)],
                       lambda d, r, s=scale, n=size: node(2, "ROIPooling", [d, r], pooled_h=n[0], pooled_w=n[1],
                                                          output_roi=list(n), output_size=list(n), spatial_scale=s,
                                                          method="max"))
    for size in ((2, 2), (1, 1), (3, 1)):
        yield Case(f"ROIPooling_bilinear_{text(size)}", "ROIPooling", [normal(2, 3, 8, 10), regions(5, 2, 1.0)],
                   lambda d, r, n=size: node(2, "ROIPooling", [d, r], pooled_h=n[0], pooled_w=n[1],
                                             output_roi=list(n), output_size=list(n), spatial_scale=1.0,
                                             method="bilinear"))
    for group in (1, 2, 3):
        yield Case(f"PSROIPooling_average_{group}", "PSROIPooling",
                   [normal(2, 2 * group * group, 8, 10), regions(4, 2, 30.0)],
                   lambda d, r, g=group: node(1, "PSROIPooling", [d, r], output_dim=2, group_size=g, spatial_scale=0.25,
                                              mode="average", spatial_bins_x=1, spatial_bins_y=1))
        yield Case(f"PSROIPooling_bilinear_{group}", "PSROIPooling", [normal(2, 12, 8, 10), regions(4, 2, 1.0)],
                   lambda d, r, g=group: node(1, "PSROIPooling", [d, r], output_dim=2, group_size=g, spatial_scale=1.0,
                                              mode="bilinear", spatial_bins_x=3, spatial_bins_y=2))
    for mode in ("avg", "max"):
        for aligned in ("asymmetric", "half_pixel_for_nn", "half_pixel"):
            for ratio in (0, 2):
                yield Case(f"ROIAlign_{mode}_{aligned}_{ratio}", "ROIAlign",
                           [normal(2, 3, 8, 10), lambda rng: boxes(rng, 4, 30.0), integers(0, 2, 4)],
                           lambda d, r, b, m=mode, a=aligned, n=ratio: node(
                               9, "ROIAlign", [d, r, b], pooled_h=2, pooled_w=3, sampling_ratio=n, spatial_scale=0.25,
                               mode=m, aligned_mode=a))
    yield Case("ROIAlign3", "ROIAlign", [normal(2, 3, 8, 10), lambda rng: boxes(rng, 4, 9.0), integers(0, 2, 4)],
               lambda d, r, b: node(3, "ROIAlign", [d, r, b], pooled_h=2, pooled_w=2, sampling_ratio=2,
                                    spatial_scale=1.0, mode="avg"))


PRIOR = {"min_size": [2.0], "max_size": [], "aspect_ratio": [], "density": [], "fixed_ratio": [], "fixed_size": [],
         "clip": False, "flip": False, "step": 0.0, "offset": 0.5, "variance": [], "scale_all_sizes": True}


def prior_cases():
    def prior(name, opset=1, **given):
        attributes = {key: (np.array(value, np.float32) if isinstance(value, list) else value)
                      for key, value in {**PRIOR, **given}.items()}
        return Case("PriorBox_" + name, "PriorBox", [normal(1)], lambda p: [
            node(opset, "PriorBox", [i64([3, 4]), i64([24, 40])], **attributes).output(0), o1.relu(p).output(0)])

    yield prior("plain")
    yield prior("ratios", aspect_ratio=[2.0, 3.0, 0.5], flip=True)
    yield prior("max", min_size=[4.0, 9.0], max_size=[12.0, 20.0], aspect_ratio=[2.0], flip=True, clip=True)
    yield prior("variance", variance=[0.1, 0.1, 0.2, 0.2], step=8.0, offset=0.3)
    yield prior("one_variance", variance=[0.3], step=7.0)
    yield prior("relative", min_size=[0.2, 0.4], aspect_ratio=[2.0], scale_all_sizes=False)
    yield prior("relative_step", min_size=[0.2, 0.4], aspect_ratio=[2.0], scale_all_sizes=False, step=-1.0)
    yield prior("fixed", min_size=[], fixed_size=[6.0, 9.0], density=[2.0, 1.0], aspect_ratio=[2.0])
    yield prior("fixed_ratio", min_size=[], fixed_size=[6.0, 9.0], density=[2.0, 3.0], fixed_ratio=[0.5])
    yield prior("fixed_uneven", min_size=[], fixed_size=[7.0, 9.5], density=[2.0, 3.0])
    for order in (True, False):
        yield prior(f"order_{order}", 8, min_size=[4.0], max_size=[12.0], aspect_ratio=[2.0], flip=True,
                    min_max_aspect_ratios_order=order)

    def clustered(name, **given):
        attributes = {"width": [4.0, 9.0], "height": [5.0, 3.0], "clip": False, "step": 0.0, "step_w": 0.0, "step_h": 0.0,
                      "offset": 0.5, "variance": [], **given}
        attributes = {key: (np.array(value, np.float32) if isinstance(value, list) else value)
                      for key, value in attributes.items()}
        return Case("PriorBoxClustered_" + name, "PriorBoxClustered", [normal(1)], lambda p: [
            node(1, "PriorBoxClustered", [i64([3, 4]), i64([24, 40])], **attributes).output(0), o1.relu(p).output(0)])

    yield clustered("plain")
    yield clustered("clip", clip=True, variance=[0.1, 0.2, 0.3, 0.4])
    yield clustered("steps", step_w=9.0, step_h=7.0, offset=0.2, variance=[0.5])
    yield clustered("step", step=6.0)


def yolo_cases():
    anchors = np.array([1.0] * 6, np.float32)
    for softmax, end in ((True, 3), (False, 3), (True, 2), (True, 1)):
        yield Case(f"RegionYolo_{softmax}_{end}", "RegionYolo", [normal(2, 30, 3, 2)],
                   lambda p, s=softmax, e=end: node(1, "RegionYolo", [p], axis=1, coords=4, classes=5, end_axis=e, num=3,
                                                    do_softmax=s, mask=[0, 1, 2], anchors=anchors))
    for stride, shape in ((2, (1, 8, 4, 6)), (2, (2, 4, 2, 2)), (3, (1, 18, 6, 3))):
        yield Case(f"ReorgYolo_{stride}_{text(shape)}", "ReorgYolo", [normal(*shape)],
                   lambda p, s=stride: node(2, "ReorgYolo", [p], stride=[s]))


def ctc_cases():
    mask = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 1], [1, 0, 1], [1, 0, 0]], np.float32)
    for merge in (True, False):
        yield Case(f"CTCGreedyDecoder_{merge}", "CTCGreedyDecoder", [normal(5, 3, 3)],
                   lambda p, m=merge: node(1, "CTCGreedyDecoder", [p, const(mask)], ctc_merge_repeated=m))
        for blank in (None, 0):
            extra = [] if blank is None else [const(blank, np.int32)]
            yield Case(f"CTCGreedyDecoderSeqLen_{merge}_{blank}", "CTCGreedyDecoderSeqLen", [normal(3, 8, 3)],
                       lambda p, m=merge, e=extra: node(6, "CTCGreedyDecoderSeqLen",
                                                        [p, const([8, 3, 5], np.int32), *e], merge_repeated=m,
                                                        classes_index_type="i64", sequence_length_type="i32"))


BAG_ROWS = [0, 2, 5, 5, 1]
BAG_WEIGHTS = np.array([0.5, -1, 2, 0.25, 3], np.float32)


def bag_cases():
    table, rows = normal(6, 3), i64(BAG_ROWS)
    for op, opset, more in (("EmbeddingBagOffsetsSum", 3, {}), ("EmbeddingBagOffsets", 15, {"reduction": "sum"}),
                            ("EmbeddingBagOffsets", 15, {"reduction": "mean"})):
        for name, offsets, extra in (("plain", [0, 2], []), ("empty", [0, 2, 2], []), ("default", [0, 2, 2], [i64(4)]),
                                     ("weights", [0, 3], [i64(-1), const(BAG_WEIGHTS)])):
            if extra[1:] and more.get("reduction") == "mean":
                continue  # OpenVINO takes weights for sums only
            yield Case("_".join([op, *more.values(), name]), op, [table],
                       lambda t, op=op, v=opset, o=offsets, e=extra, m=more: node(v, op, [t, rows, i64(o), *e], **m))
    for op, opset, more in (("EmbeddingBagPackedSum", 3, {}), ("EmbeddingBagPacked", 15, {"reduction": "mean"})):
        yield Case(f"{op}_plain", op, [table],
                   lambda t, op=op, v=opset, m=more: node(v, op, [t, i64([[0, 2], [5, 5], [1, 3]])], **m))
    yield Case("EmbeddingBagPackedSum_weights", "EmbeddingBagPackedSum", [table, normal(3, 2)],
               lambda t, w: node(3, "EmbeddingBagPackedSum", [t, i64([[0, 2], [5, 5], [1, 3]]), w]))
    for name, extra in (("plain", []), ("default", [i64(1)]), ("weights", [i64(1), weights(5, 5)])):
        yield Case(f"EmbeddingSegmentsSum_{name}", "EmbeddingSegmentsSum", [table],
                   lambda t, e=extra: node(3, "EmbeddingSegmentsSum", [t, rows, i64([0, 0, 2, 2, 3]), i64(5), *e]))


def window_cases():
    for pad in ("valid", "same_upper", "same_lower"):
        for sizes, strides, rates in (([2, 3], [1, 1], [1, 1]), ([3, 3], [2, 3], [2, 1])):
            yield Case(f"ExtractImagePatches_{pad}_{text(sizes)}", "ExtractImagePatches", [normal(2, 2, 7, 8)],
                       lambda p, a=pad, s=sizes, t=strides, r=rates: node(3, "ExtractImagePatches", [p], sizes=s,
                                                                          strides=t, rates=r, auto_pad=a))
    for name, groups, deformable, mask, padded, strides, pads, dilations in (
            ("plain", 1, 1, False, False, 1, 0, 1), ("padded", 1, 1, False, True, 2, 1, 1),
            ("groups", 2, 1, False, False, 1, 1, 1), ("deformable_groups", 1, 2, True, True, 1, 1, 2),
            ("mask", 1, 1, True, False, 1, 1, 1), ("both", 2, 2, True, False, 2, 1, 1)):
        size = [(n + 2 * pads - dilations * 2 - 1) // strides + 1 for n in (7, 6)]
        inputs = [normal(2, 4, 7, 6), uniform(-2, 2, 2, 18 * deformable, *size)]
        inputs += [uniform(0, 1, 2, 9 * deformable, *size)] if mask else []

        def build(data, offsets, *rest, g=groups, d=deformable, b=padded, s=strides, p=pads, t=dilations):
            return node(8, "DeformableConvolution", [data, offsets, weights(6, 6, 4 // g, 3, 3), *rest], strides=[s, s],
                        pads_begin=[p, p], pads_end=[p, p], dilations=[t, t], group=g, deformable_group=d,
                        bilinear_interpolation_pad=b)

        yield Case(f"DeformableConvolution_{name}", "DeformableConvolution", inputs, build)
    for groups in (1, 2, 4):
        yield Case(f"GroupNormalization_{groups}", "GroupNormalization", [normal(2, 4, 3, 5)],
                   lambda p, g=groups: node(12, "GroupNormalization", [p, weights(7, 4), weights(8, 4)], num_groups=g,
                                            epsilon=1e-3))


def fourier_cases():
    for op, opset in (("DFT", 7), ("IDFT", 7)):
        for axes, size, shape in (([0], None, (5, 2)), ([1], [4], (2, 6, 2)), ([0, 1], [3, 7], (4, 5, 2)),
                                  ([-1], None, (2, 8, 2))):
            extra = [i64(size)] if size else []
            yield Case(f"{op}_{text(shape)}_{text(axes)}", op, [normal(*shape)],
                       lambda p, op=op, v=opset, a=axes, e=extra: node(v, op, [p, i64(a), *e]))
    for axes, size, shape in (([0], None, (6,)), ([1], [5], (2, 8)), ([0, 1], None, (4, 7)), ([0], [3], (4, 3))):  # filled up, OpenVINO writes past its memory
        extra = [i64(size)] if size else []
        yield Case(f"RDFT_{text(shape)}_{text(axes)}", "RDFT", [normal(*shape)],
                   lambda p, a=axes, e=extra: node(9, "RDFT", [p, i64(a), *e]))
        yield Case(f"IRDFT_{text(shape)}_{text(axes)}", "IRDFT", [normal(*shape, 2)],
                   lambda p, a=axes, e=extra: node(9, "IRDFT", [p, i64(a), *e]))


SSD = {"background_label_id": 0, "top_k": -1, "variance_encoded_in_target": False, "keep_top_k": [8],
       "code_type": "caffe.PriorBoxParameter.CORNER", "share_location": True, "nms_threshold": 0.4,
       "confidence_threshold": 0.2, "clip_after_nms": False, "clip_before_nms": False, "decrease_label_id": False,
       "normalized": True, "input_height": 1, "input_width": 1, "objectness_score": 0.0}


def ssd_cases():
    def ssd(name, priors=12, classes=3, images=2, aux=False, **given):
        attributes = {**SSD, **given}
        size = 4 if attributes["normalized"] else 5
        rows = 1 if attributes["variance_encoded_in_target"] else 2
        extent = 1.0 if attributes["normalized"] else 40.0
        locations = 1 if attributes["share_location"] else classes

        def proposals(rng):
            made = np.concatenate([np.zeros((priors, size - 4)), boxes(rng, priors, extent)], 1).reshape(1, 1, -1)
            if rows == 2:
                made = np.concatenate([made, np.full((1, 1, priors * size), 0.2)], 1)
            return made.astype(np.float32)

        inputs = [normal(images, priors * locations * 4), uniform(0, 1, images, priors * classes), proposals]
        inputs += [uniform(0, 1, images, priors * 2), normal(images, priors * locations * 4)] if aux else []
        return Case("DetectionOutput_" + name, "DetectionOutput", inputs,
                    lambda *p: node(8, "DetectionOutput", list(p), **attributes))

    center = "caffe.PriorBoxParameter.CENTER_SIZE"
    yield ssd("corner")
    yield ssd("center", code_type=center)
    yield ssd("all_kept", keep_top_k=[-1], top_k=5)
    yield ssd("few_found", confidence_threshold=0.9)
    yield ssd("encoded", variance_encoded_in_target=True)
    yield ssd("clip_after", clip_after_nms=True)
    yield ssd("clip_before", clip_before_nms=True, code_type=center)
    yield ssd("own_locations", share_location=False)
    yield ssd("pixels", normalized=False, input_height=40, input_width=40, code_type=center)
    yield ssd("mxnet", decrease_label_id=True)
    yield ssd("objectness", aux=True, objectness_score=0.4, code_type=center)
    yield ssd("background", background_label_id=2)


def proposal_cases():
    def proposal(name, opset=4, sizes=(64, 80, 1), outputs=2, **given):
        attributes = {"base_size": 16, "pre_nms_topn": 30, "post_nms_topn": 8, "nms_thresh": 0.6, "feat_stride": 16,
                      "min_size": 4, "ratio": [0.5, 1.0, 2.0], "scale": [1.0, 2.0], "clip_before_nms": True,
                      "clip_after_nms": False, "normalize": False, "box_size_scale": 1.0, "box_coordinate_scale": 1.0,
                      "framework": "", **given}
        attributes = {k: np.array(v, np.float32) if isinstance(v, list) else v for k, v in attributes.items()}
        return Case(f"Proposal{opset}_{name}", "Proposal", [
            lambda rng: (rng.permutation(2 * 12 * 20).astype(np.float32) / 480).reshape(2, 12, 4, 5),
            uniform(-0.5, 0.5, 2, 24, 4, 5)],
            # OpenVINO leaves the scores behind the last region as they were.
            lambda s, d: node(opset, "Proposal", [s, d, const(list(sizes))], **attributes).outputs()[:outputs])

    yield proposal("plain")
    yield proposal("few", nms_thresh=0.02, post_nms_topn=20, outputs=1)
    yield proposal("normalized", normalize=True, clip_after_nms=True, clip_before_nms=False)
    yield proposal("four_sizes", sizes=(64, 80, 2, 3), min_size=9)
    yield proposal("scales", box_size_scale=5.0, box_coordinate_scale=10.0)
    yield proposal("tensorflow", framework="tensorflow", box_size_scale=5.0, box_coordinate_scale=10.0)
    yield proposal("one_output", 1)


CASES = [*region_cases(), *prior_cases(), *yolo_cases(), *ctc_cases(), *bag_cases(), *window_cases(), *fourier_cases(),
         *ssd_cases(), *proposal_cases()]
