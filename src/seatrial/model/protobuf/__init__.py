"""Kubernetes' protobuf: every built-in kind from and to documents, by the field numbers of the data file."""

from seatrial.model.protobuf.envelopes import NoProtobuf, decode_protobuf, encode_protobuf, envelope
from seatrial.model.protobuf.reading import MAGIC
from seatrial.model.protobuf.writing import write_message
