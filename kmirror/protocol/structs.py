"""Base classes of messages: `Struct`, the rows of its field table, and `Root`, a struct with versions.

Generated classes hold the fields, one reader and one writer. Code that is not time-critical (JSON, error reports,
annotated dumps, strategies) walks their `FIELDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar, overload

from kmirror.errors import KmirrorError, LocalProtocolError
from kmirror.protocol.wire import Put, UnknownTag, put_tags, read_unknown_tags

if TYPE_CHECKING:
    from typing import Self

NO_VERSIONS = (0, -1)
# Larger input is validated before objects are created; see `careful.skim`.
SKIM_FROM_BYTES = 64 * 1024


class Policy(Enum):
    """Strictness of decoding; see `careful`."""

    STRICT = "strict"
    LENIENT = "lenient"


class Field(NamedTuple):
    """One field of the schema; ranges are (first, last), and empty if first > last."""

    name: str  # Name in the schema.
    attribute: str  # Name of the Python attribute.
    type: str  # A scalar's name or "struct".
    versions: tuple[int, int]
    is_array: bool = False
    nullable: tuple[int, int] = NO_VERSIONS
    tagged: tuple[int, int] = NO_VERSIONS
    tag: int = -1
    default: Any = None  # None means null; [] for an array, {} for a struct of defaults.
    ignorable: bool = False
    struct: Any = None  # The class, if the type is "struct".
    entity: str = ""
    map_key: bool = False
    never_flexible: bool = False

    @property
    def is_tag_only(self) -> bool:
        """True if the field is in the tagged section in all its versions."""
        return self.versions == self.tagged and self.tagged[0] <= self.tagged[1]


# Called with every generated class when it is loaded, to register strategies without loading all classes.
class_hooks: list[Callable[[type[Struct]], None]] = []


T = TypeVar("T")


class _Unset:
    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSET"


# Default of an argument that was not passed.
UNSET: Any = _Unset()


class Tagged(Generic[T]):
    """A field that is in the tagged section in all its versions.

    Most objects have no such field set, so all values share one slot, `_tagged`: 0 if none is set, else a dict by name,
    which also holds the unknown tags. A reader then stores one value, and a writer checks one.
    """

    __slots__ = ("default", "name")

    def __init__(self, name: str, default: T | type[T]) -> None:
        self.name = name
        self.default = default

    @overload
    def __get__(self, struct: None, owner: Any = None) -> Self: ...

    @overload
    def __get__(self, struct: Struct, owner: Any = None) -> T: ...

    def __get__(self, struct: Struct | None, owner: Any = None) -> Any:
        if struct is None:
            return self
        tagged = struct._tagged
        if tagged and self.name in tagged:
            return tagged[self.name]
        if not isinstance(self.default, type):
            return self.default
        # A mutable default must be stored.
        value = self.default()
        self.__set__(struct, value)
        return value

    def __set__(self, struct: Struct, value: T) -> None:
        if not struct._tagged:
            struct._tagged = {}
        struct._tagged[self.name] = value


class Struct:
    """A set of fields: a message, or a struct nested in one."""

    # No `__getattr__` here: CPython would read every slot five times slower.
    __slots__ = ("_tagged",)

    FIELDS: ClassVar[tuple[Field, ...]] = ()

    # See `Tagged`.
    _tagged: Any

    def __init__(self, *, unknown_tags: Sequence[UnknownTag] = ()) -> None:
        raise NotImplementedError

    @property
    def unknown_tags(self) -> Sequence[UnknownTag]:
        """Tagged fields that the schema does not have, by tag, unchanged."""
        tagged = self._tagged
        found: Sequence[UnknownTag] = tagged.get("unknown_tags", ()) if tagged else ()
        return found

    @unknown_tags.setter
    def unknown_tags(self, tags: Sequence[UnknownTag]) -> None:
        """Set the tagged fields that the schema does not have."""
        if not self._tagged:
            self._tagged = {}
        self._tagged["unknown_tags"] = tags

    def __init_subclass__(cls) -> None:
        for hook in class_hooks:
            hook(cls)

    def __eq__(self, other: object) -> bool:
        if self.__class__ is not other.__class__ and _final_class(self) is not _final_class(other):
            return NotImplemented
        assert isinstance(other, Struct)
        for field in self.FIELDS:
            if not _is_equal(getattr(self, field.attribute), getattr(other, field.attribute)):
                return False
        return not (self._tagged or other._tagged) or tuple(self.unknown_tags) == tuple(other.unknown_tags)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the constructor call with all fields that differ from their defaults; secrets are hidden."""
        arguments = [
            f"{f.attribute}={_visible_value(self, f, value)!r}"
            for f in self.FIELDS
            if not is_default(f, value := getattr(self, f.attribute))
        ]
        if self.unknown_tags:
            arguments.append(f"unknown_tags={self.unknown_tags!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _write(self, put: Put, version: int) -> None:
        raise NotImplementedError

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Self, int]:
        raise NotImplementedError

    def _write_tags(self, put: Put, version: int) -> None:
        put_tags(put, (), self.unknown_tags, 0)

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        self.unknown_tags, pos = read_unknown_tags(buf, pos)
        return pos


def _visible_value(struct: Struct, field: Field, value: Any) -> Any:
    """Return the value to show for a field; secret fields and passwords in configs are hidden."""
    from kmirror.spec.secrets import HIDDEN, SECRET_FIELDS, is_secret

    name = getattr(struct, "name", None) if field.attribute == "value" else None
    is_hidden = field.attribute in SECRET_FIELDS or (isinstance(name, str) and is_secret(name))
    return HIDDEN if value and is_hidden else value


def _final_class(value: object) -> type:
    """Return the class of the value; for an object with a `Late` field, its final class."""
    cls = value.__class__
    return cls.__base__ if cls.__name__.startswith("Late") and cls.__base__ is not None else cls


def _is_equal(one: Any, other: Any) -> bool:
    # An array of numbers is a tuple after decoding, or a list.
    if type(one) is not type(other) and isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return list(one) == list(other)
    return bool(one == other)


def fresh_default(field: Field) -> Any:
    """Return the default value; mutable ones are new objects."""
    if field.default is None:
        return None
    if field.is_array:
        return []
    return field.struct() if field.type == "struct" else field.default


def is_default(field: Field, value: object) -> bool:
    """Return whether the field has its default value and may be omitted."""
    default = field.default
    if default is None or value is None:
        return value is default
    if field.is_array:
        return not value
    if field.type == "struct":
        return bool(value == field.struct())
    return bool(value == default)


class Late:
    """Descriptor for a field that is decoded on first access, in a subclass without slots.

    Until then, the slot of the base class holds the reader and its arguments. After the first access, the object
    becomes an instance of the base class.
    """

    __slots__ = ("final_class", "slot")

    def __init__(self, final_class: type[Struct], name: str) -> None:
        self.final_class = final_class
        self.slot = final_class.__dict__[name]

    def __get__(self, struct: Struct, owner: Any = None) -> Any:
        read, *arguments = self.slot.__get__(struct)
        value = read(*arguments)
        self.__set__(struct, value)
        return value

    def __set__(self, struct: Struct, value: Any) -> None:
        self.slot.__set__(struct, value)
        struct.__class__ = self.final_class


class Root(Struct):
    """A struct that is a whole message: it has a name and the versions `MIN_VERSION` to `MAX_VERSION`."""

    __slots__ = ()

    NAME: ClassVar[str] = ""
    TYPE: ClassVar[str] = ""  # request, response, header, data, metadata, coordinator-key or coordinator-value
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = -1
    FLEXIBLE_FROM: ClassVar[int | None] = None


def check_version(cls: type[Root], version: int, error: type[KmirrorError] = LocalProtocolError) -> None:
    """Raise `error` unless the message has this version; `LocalProtocolError` if it is not a number."""
    if not isinstance(version, int):
        raise LocalProtocolError(f"a version must be an integer, not {version!r}")
    if not cls.MIN_VERSION <= version <= cls.MAX_VERSION:
        raise error(no_version(cls, version))


def no_version(cls: type[Root], version: int) -> str:
    """Return an error text: the message does not have this version, and the versions it has."""
    return f"{cls.NAME} has no version {version}: known are {cls.MIN_VERSION} to {cls.MAX_VERSION}"
