// SPDX-License-Identifier: Apache-2.0
// Functions that explain a call that does not fit; others pass through at the cost of a pointer.
#include "python/bind/bind.h"

#include <cstddef>
#include <structmember.h>

namespace {

// The vector calls of PEP 590, which the limited API of Python 3.11 hides; both are frozen.
using VectorCall = PyObject* (*)(PyObject*, PyObject* const*, size_t, PyObject*);
constexpr unsigned long kHasVectorCall = 1UL << 11;

struct Explained {
  PyObject ob_base;
  VectorCall call;
  PyObject* function;
  PyObject* words;      // of the error of a call that does not fit
  PyObject* otherwise;  // is called with the same then
  PyObject* attributes;
  PyObject* references;
};

Explained& own(PyObject* self) {
  return *reinterpret_cast<Explained*>(self);
}

// Whether the error is of the call, and not of what ran in it; takes it then.
bool does_not_fit(PyObject* self) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (value && !trace) {
    const nb::object text = nb::steal(PyObject_Str(value));
    if (text.is_valid() && PySequence_Contains(text.ptr(), own(self).words) == 1) {
      for (PyObject* each : {type, value, trace}) Py_XDECREF(each);
      return true;
    }
    PyErr_Clear();
  }
  PyErr_Restore(type, value, trace);
  return false;
}

PyObject* call_vector(PyObject* self, PyObject* const* values, size_t count, PyObject* names) {
  PyObject* const made = nb::detail::vectorcall(own(self).function, values, count, names);
  if (made || !does_not_fit(self)) return made;
  return nb::detail::vectorcall(own(self).otherwise, values, count, names);
}

PyObject* call(PyObject* self, PyObject* values, PyObject* options) {
  PyObject* const made = PyObject_Call(own(self).function, values, options);
  if (made || !does_not_fit(self)) return made;
  return PyObject_Call(own(self).otherwise, values, options);
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(self);
  static PyObject* const method =
      nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
  return PyObject_CallFunctionObjArgs(method, self, object, nullptr);
}

PyObject* shown(PyObject* self) {
  return PyObject_Repr(own(self).function);
}

// Pickled by name, as functions are.
PyObject* reduce(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(own(self).function, "__qualname__");
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(own(self).function);
  Py_VISIT(own(self).words);
  Py_VISIT(own(self).otherwise);
  Py_VISIT(own(self).attributes);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(own(self).function);
  Py_CLEAR(own(self).words);
  Py_CLEAR(own(self).otherwise);
  Py_CLEAR(own(self).attributes);
  return 0;
}

void free_explained(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (own(self).references) PyObject_ClearWeakRefs(self);
  clear(self);
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Explained, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Explained, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Explained, references), READONLY, nullptr},
    {}};

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

PyTypeObject* type_of_explained() {
  static PyType_Slot slots[] = {{Py_tp_call, slot(call)},   {Py_tp_descr_get, slot(bind)},
                                {Py_tp_repr, slot(shown)},  {Py_tp_traverse, slot(traverse)},
                                {Py_tp_clear, slot(clear)}, {Py_tp_dealloc, slot(free_explained)},
                                {Py_tp_members, members},   {Py_tp_methods, methods},
                                {Py_tp_getset, properties}, {0, nullptr}};
  static PyType_Spec spec = {"headrace._core.ExplainedFunction", sizeof(Explained), 0,
                             static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                                   Py_TPFLAGS_METHOD_DESCRIPTOR | kHasVectorCall),
                             slots};
  static PyObject* const type = PyType_FromSpec(&spec);
  if (!type) nb::raise_python_error();
  return reinterpret_cast<PyTypeObject*>(type);
}

nb::object explained(nb::handle function, const nb::str& words, nb::handle otherwise) {
  PyObject* const made = PyType_GenericAlloc(type_of_explained(), 0);
  if (!made) nb::raise_python_error();
  own(made).call = call_vector;
  own(made).function = Py_NewRef(function.ptr());
  own(made).words = Py_NewRef(words.ptr());
  own(made).otherwise = Py_NewRef(otherwise.ptr());
  return nb::steal(made);
}

}  // namespace

void bind_facade(nb::module_& m) {
  m.def("explained", &explained, "function"_a, "words"_a, "otherwise"_a,
        nb::sig("def explained(function: typing.Any, words: str, otherwise: typing.Any) -> "
                "typing.Any"),
        "A function that passes calls on to `function`; and to `otherwise` those that do not fit "
        "it, whose TypeError has these words.");
}
