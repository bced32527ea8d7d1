/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "docstrings.h"

#include <pybind11/pybind11.h>

#include <cstdlib>
#include <cstring>

namespace py = pybind11;

namespace {

//! The C function in a method, a static method or a function. Null: none.
PyCFunctionObject* function_in(py::object o)
{
    if (PyInstanceMethod_Check(o.ptr()))
        o = py::reinterpret_borrow<py::object>(PyInstanceMethod_GET_FUNCTION(o.ptr()));
    else if (Py_TYPE(o.ptr()) == &PyStaticMethod_Type)
        o = o.attr("__func__");
    return PyCFunction_Check(o.ptr()) ? reinterpret_cast<PyCFunctionObject*>(o.ptr())
                                      : nullptr;
}

//! Puts the text after the signature. pybind11 frees the old text with free().
void describe_function(PyCFunctionObject* f, const std::string& text)
{
    const std::string old = f->m_ml->ml_doc == nullptr ? "" : f->m_ml->ml_doc;
    const std::string signature = old.substr(0, old.find('\n'));
    const std::string all = signature + "\n\n" + text + "\n";
    std::free(const_cast<char*>(f->m_ml->ml_doc));
    f->m_ml->ml_doc = strdup(all.c_str());
}

void describe(const py::object& o, const std::string& text)
{
    if (PyType_Check(o.ptr()) || Py_TYPE(o.ptr()) == &PyProperty_Type)
        o.attr("__doc__") = text;
    else if (auto* f = function_in(o))
        describe_function(f, text);
}

} // namespace

/*! \brief Gives everything that is bound the doc comment of its declaration, so that
 *         help() shows the text of the header. A class also has the parameters of its
 *         make().
 */
void document(py::module& m)
{
    const auto& all = docstrings();
    for (const auto& [name, text] : all) {
        const size_t dot = name.find('.');
        const std::string top = name.substr(0, dot);
        if (!py::hasattr(m, top.c_str()))
            continue;
        const py::object owner = m.attr(top.c_str());
        if (dot == std::string::npos) {
            const auto make = all.find(name + ".make");
            const bool has_make = make != all.end();
            describe(owner, has_make ? std::string(text) + "\n\n" + make->second : text);
            continue;
        }
        const std::string member = name.substr(dot + 1);
        if (!PyType_Check(owner.ptr()))
            continue;
        const py::object members = owner.attr("__dict__");
        if (members.contains(member))
            describe(members[member.c_str()], text);
        else if (member == "make" && members.contains("__init__"))
            describe(members["__init__"], text);
    }
}
