// A switch of any number of ports: pointers into its model, which machine.cpp joins to others.

#pragma once

#include <vector>

#include "verilated.h"

struct Crossbar {
    virtual ~Crossbar() = default;
    virtual void eval() = 0;

    CData* clk;
    CData* rst;
    CData* number;
    CData* trace_enable;
    QData* cycle;
    std::vector<CData*> i_valid, i_ready, o_valid, o_ready;
    std::vector<EData*> i_p, o_p;
    bool active = false;  // an input is valid in this cycle
};

template <class Model>
struct CrossbarOf : Crossbar {
    Model* const top;

    explicit CrossbarOf(const char* name) : top(new Model(name)) {
        clk = &top->clk;
        rst = &top->rst;
        number = &top->number;
        trace_enable = &top->trace_enable;
        cycle = &top->cycle;
    }
    ~CrossbarOf() override { delete top; }
    void eval() override { top->eval(); }
};
