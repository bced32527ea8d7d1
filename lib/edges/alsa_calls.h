/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*! \file alsa_calls.h
 *  \brief Functions of libasound, version 1, that sound_device calls.
 *
 * The library comes with GNU Radio, its headers do not. The binary form of these calls
 * has been the same since version 0.9.
 * https://www.alsa-project.org/alsa-doc/alsa-lib/pcm.html describes them.
 */
extern "C" {

struct _snd_pcm;
struct _snd_pcm_hw_params;
struct _snd_pcm_sw_params;

int snd_pcm_open(_snd_pcm** pcm, const char* name, int stream, int mode);
int snd_pcm_close(_snd_pcm* pcm);
int snd_pcm_prepare(_snd_pcm* pcm);
int snd_pcm_start(_snd_pcm* pcm);
int snd_pcm_resume(_snd_pcm* pcm);
int snd_pcm_wait(_snd_pcm* pcm, int timeout_ms);
long snd_pcm_avail(_snd_pcm* pcm);
long snd_pcm_readi(_snd_pcm* pcm, void* frames, unsigned long count);
long snd_pcm_writei(_snd_pcm* pcm, const void* frames, unsigned long count);
const char* snd_strerror(int error);
//! The library's error messages go to this handler instead of the terminal.
int snd_lib_error_set_handler(
    void (*handler)(const char*, int, const char*, int, const char*, ...));

int snd_pcm_hw_params_malloc(_snd_pcm_hw_params** hw);
void snd_pcm_hw_params_free(_snd_pcm_hw_params* hw);
int snd_pcm_hw_params_any(_snd_pcm* pcm, _snd_pcm_hw_params* hw);
int snd_pcm_hw_params_set_access(_snd_pcm* pcm, _snd_pcm_hw_params* hw, int access);
int snd_pcm_hw_params_set_format(_snd_pcm* pcm, _snd_pcm_hw_params* hw, int format);
int snd_pcm_hw_params_set_channels(_snd_pcm* pcm, _snd_pcm_hw_params* hw, unsigned count);
int snd_pcm_hw_params_set_rate(_snd_pcm* pcm,
                               _snd_pcm_hw_params* hw,
                               unsigned rate,
                               int direction);
int snd_pcm_hw_params_set_period_time_near(_snd_pcm* pcm,
                                           _snd_pcm_hw_params* hw,
                                           unsigned* us,
                                           int* direction);
int snd_pcm_hw_params_set_buffer_time_near(_snd_pcm* pcm,
                                           _snd_pcm_hw_params* hw,
                                           unsigned* us,
                                           int* direction);
int snd_pcm_hw_params(_snd_pcm* pcm, _snd_pcm_hw_params* hw);
int snd_pcm_hw_params_get_buffer_size(const _snd_pcm_hw_params* hw,
                                      unsigned long* frames);

int snd_pcm_sw_params_malloc(_snd_pcm_sw_params** sw);
void snd_pcm_sw_params_free(_snd_pcm_sw_params* sw);
int snd_pcm_sw_params_current(_snd_pcm* pcm, _snd_pcm_sw_params* sw);
int snd_pcm_sw_params_set_start_threshold(_snd_pcm* pcm,
                                          _snd_pcm_sw_params* sw,
                                          unsigned long frames);
int snd_pcm_sw_params(_snd_pcm* pcm, _snd_pcm_sw_params* sw);
}
