-- SPDX-License-Identifier: GPL-3.0-or-later
-- Wireshark dissector for the octets that its STANAG 5066 dissector does not decode. It assembles
-- C_PDUs from D_PDUs, and decodes their S_PDUs with RCOP/UDOP, HFCHAT, IP and SLEP.
--
--     tshark -X lua_script:examples/wireshark/hf_s5066.lua -V -r d_pdus.pcap
--
-- In Wireshark put this file into the folder "Personal Lua Plugins" (Help, About, Folders).
-- SLEP is decoded on SAP 13. Its octet format is this project's own.

local p = Proto("hf_s5066", "STANAG 5066 C_PDU and S_PDU")

local c_types = { [0] = "DATA", "LINK REQUEST", "LINK ACCEPTED", "LINK REJECTED",
    "LINK BREAK", "LINK BREAK CONFIRM" }
local s_types = { [0] = "DATA", "DELIVERY CONFIRM", "DELIVERY FAIL", "HARD LINK REQUEST",
    "HARD LINK CONFIRM", "HARD LINK REJECTED", "HARD LINK TERMINATE",
    "HARD LINK TERMINATE CONFIRM" }
local applications = { [0x1002] = "BFTP", [0x100b] = "FRAP", [0x100c] = "FRAPv2" }
local slep_types = { [0] = "UD", [1] = "RD", [2] = "RA", [4] = "SO", [5] = "SR", [6] = "SD",
    [7] = "SC", [8] = "SX" }

local f = {
    c_type = ProtoField.uint8("hf_s5066.cpdu.type", "C_PDU type", base.DEC, c_types, 0xf0),
    c_low = ProtoField.uint8("hf_s5066.cpdu.low", "Reason or link type", base.DEC, nil, 0x0f),
    s_type = ProtoField.uint8("hf_s5066.spdu.type", "S_PDU type", base.DEC, s_types, 0xf0),
    s_low = ProtoField.uint8("hf_s5066.spdu.low", "Priority or reason", base.DEC, nil, 0x0f),
    src_sap = ProtoField.uint8("hf_s5066.spdu.src_sap", "Source SAP", base.DEC, nil, 0xf0),
    dst_sap = ProtoField.uint8("hf_s5066.spdu.dst_sap", "Destination SAP", base.DEC, nil, 0x0f),
    confirm = ProtoField.bool("hf_s5066.spdu.confirm", "Client confirmation", 8, nil, 0x80),
    ttd_valid = ProtoField.bool("hf_s5066.spdu.ttd_valid", "Time to die valid", 8, nil, 0x40),
    ttd_day = ProtoField.uint8("hf_s5066.spdu.ttd_day", "Day modulo 16", base.DEC, nil, 0x0f),
    ttd = ProtoField.uint16("hf_s5066.spdu.ttd", "Time to die (x2 seconds of the day)"),
    u_pdu = ProtoField.bytes("hf_s5066.updu", "U_PDU"),
    connection = ProtoField.uint8("hf_s5066.rcop.connection", "Connection", base.DEC, nil, 0xf0),
    id = ProtoField.uint8("hf_s5066.rcop.id", "U_PDU ID"),
    segment = ProtoField.uint16("hf_s5066.rcop.segment", "Segment"),
    application = ProtoField.uint16("hf_s5066.rcop.application", "Application", base.HEX,
        applications),
    text = ProtoField.string("hf_s5066.hfchat.text", "HFCHAT"),
    slep_type = ProtoField.uint8("hf_s5066.slep.type", "SLEP type", base.DEC, slep_types, 0xf0),
    slep_flags = ProtoField.uint8("hf_s5066.slep.flags", "Flags", base.HEX, nil, 0x0f),
    slep_extended = ProtoField.uint8("hf_s5066.slep.extended", "Extended address"),
    slep_sid = ProtoField.uint8("hf_s5066.slep.sid", "Stream"),
    slep_number = ProtoField.uint16("hf_s5066.slep.number", "Number"),
}
p.fields = f
local short = ProtoExpert.new("hf_s5066.short", "Too short", expert.group.MALFORMED,
    expert.severity.ERROR)
p.experts = { short }

local d_type = Field.new("s5066dts.type")
local source = Field.new("s5066dts.src_addr")
local destination = Field.new("s5066dts.dest_addr")
local segment = Field.new("s5066dts.segmented_cpdu")
-- By D_PDU type: DATA-ONLY, DATA-ACK, EXPEDITED DATA-ONLY.
local arq = {}
for number, name in pairs({ [0] = "data_only", [2] = "data_ack", [4] = "exp_data_only" }) do
    arq[number] = {
        first = Field.new("s5066dts." .. name .. ".cpdu_start"),
        last = Field.new("s5066dts." .. name .. ".cpdu_end"),
        sequence = Field.new("s5066dts." .. name .. ".transmit_sequence_number"),
    }
end
local non_arq = {}
for number, name in pairs({ [7] = "non_arq_data", [8] = "exp_non_arq_data" }) do
    non_arq[number] = {
        id_1 = Field.new("s5066dts." .. name .. ".cpdu_id_1"),
        id_2 = Field.new("s5066dts." .. name .. ".cpdu_id_2"),
        size = Field.new("s5066dts." .. name .. ".cpdu_size"),
        offset = Field.new("s5066dts." .. name .. ".cpdu_segment_offset"),
    }
end

local flows, whole = {}, {}
function p.init()
    flows, whole = {}, {} -- whole: the C_PDU that a frame completes, by frame number
end

local function flow(name)
    flows[name] = flows[name] or { parts = {}, done = {} }
    return flows[name]
end

local function arq_part(key, number, octets)
    local a = arq[number]
    local parts, done = flow(key).parts, flow(key).done
    local at = a.sequence().value
    if done[at] == octets then
        return nil -- a repetition
    end
    done[at] = nil
    parts[at] = { octets = octets, first = a.first().value, last = a.last().value }
    local from, to = at, at
    while parts[from] and not parts[from].first do
        from = (from - 1) % 256
        if from == at then return nil end
    end
    while parts[to] and not parts[to].last do
        to = (to + 1) % 256
        if to == at then return nil end
    end
    if not parts[from] or not parts[to] then
        return nil
    end
    local all, k = {}, from
    while true do
        all[#all + 1] = parts[k].octets
        done[k], parts[k] = parts[k].octets, nil
        if k == to then break end
        k = (k + 1) % 256
        if not parts[k] then return nil end
    end
    return table.concat(all)
end

local function non_arq_part(key, number, octets)
    local a = non_arq[number]
    key = key .. ":" .. a.id_1().value .. "." .. a.id_2().value .. "." .. a.size().value
    local parts, size = flow(key).parts, a.size().value
    parts[a.offset().value] = octets
    local all, at = {}, 0
    while at < size and parts[at] and #parts[at] > 0 do
        all[#all + 1] = parts[at]
        at = at + #parts[at] / 2 -- two hexadecimal digits per octet
    end
    if at < size or size == 0 then
        return nil
    end
    flows[key] = nil
    return table.concat(all)
end

local function slep(t, tree)
    local sub = tree:add(p, t(), "SLEP")
    sub:add(f.slep_type, t(0, 1))
    sub:add(f.slep_flags, t(0, 1))
    local kind, at = bit.rshift(t(0, 1):uint(), 4), 1
    if bit.band(t(0, 1):uint(), 8) ~= 0 and t:len() > at then
        sub:add(f.slep_extended, t(at, 1))
        at = at + 1
    end
    if kind >= 4 and kind <= 8 and t:len() > at then
        sub:add(f.slep_sid, t(at, 1))
        at = at + 1
    end
    if (kind == 1 or kind == 2 or kind == 6 or kind == 7) and t:len() >= at + 2 then
        sub:add(f.slep_number, t(at, 2))
    end
end

local function u_pdu(t, sap, pinfo, tree)
    tree:add(f.u_pdu, t())
    if (sap == 2 or sap == 6 or sap == 7) and t:len() >= 6 then
        local sub = tree:add(p, t(0, 6), sap == 7 and "UDOP" or "RCOP")
        sub:add(f.connection, t(0, 1))
        sub:add(f.id, t(1, 1))
        sub:add(f.segment, t(2, 2))
        sub:add(f.application, t(4, 2))
    elseif sap == 5 then
        tree:add(f.text, t())
    elseif sap == 9 then
        Dissector.get("ip"):call(t:bytes():tvb("IP datagram"), pinfo, tree)
    elseif sap == 13 then
        slep(t, tree)
    end
end

local function s_pdu(t, pinfo, tree)
    local kind = bit.rshift(t(0, 1):uint(), 4)
    local sub = tree:add(p, t(), "S_PDU " .. (s_types[kind] or "unknown"))
    sub:add(f.s_type, t(0, 1))
    sub:add(f.s_low, t(0, 1))
    if kind > 3 then
        return
    end
    local header = kind == 0 and 3 or 2
    if kind == 0 and t:len() >= 3 and bit.band(t(2, 1):uint(), 0x40) ~= 0 then
        header = 5
    end
    if t:len() < header then
        sub:add_proto_expert_info(short)
        return
    end
    sub:add(f.src_sap, t(1, 1))
    sub:add(f.dst_sap, t(1, 1))
    if kind == 0 then
        for _, field in ipairs({ f.confirm, f.ttd_valid, f.ttd_day }) do
            sub:add(field, t(2, 1))
        end
        if header == 5 then
            sub:add(f.ttd, t(3, 2))
        end
    end
    if kind < 3 and t:len() > header then
        -- Confirmations return a part of the U_PDU, which may lack its header.
        u_pdu(t(header):tvb(), kind == 0 and bit.band(t(1, 1):uint(), 15) or -1, pinfo, sub)
    end
end

function p.dissector(_, pinfo, tree)
    local kind, octets = d_type(), segment()
    if not kind or not octets then
        return
    end
    if not pinfo.visited then
        local number = kind.value
        local key = tostring(source()) .. ">" .. tostring(destination()) .. ":" ..
            (number == 2 and 0 or number)
        local hex = octets.range:bytes():tohex()
        if arq[number] then
            whole[pinfo.number] = arq_part(key, number, hex)
        elseif non_arq[number] then
            whole[pinfo.number] = non_arq_part(key, number, hex)
        end
    end
    local hex = whole[pinfo.number]
    if not hex or #hex < 2 then
        return
    end
    local t = ByteArray.new(hex):tvb("C_PDU")
    local c_kind = bit.rshift(t(0, 1):uint(), 4)
    local sub = tree:add(p, t(), "C_PDU " .. (c_types[c_kind] or "unknown"))
    sub:add(f.c_type, t(0, 1))
    sub:add(f.c_low, t(0, 1))
    if c_kind == 0 then
        if t:len() < 2 then
            sub:add_proto_expert_info(short)
        else
            s_pdu(t(1):tvb(), pinfo, sub)
        end
    end
end

register_postdissector(p)
