import { definePlugin, defineSlot } from '../../engine/index.ts'
import errors from './error-codes.ts'
import followDecision from './follow-decision.ts'
import listExperience from './list-experience.ts'
import pin from './pin.ts'
import requested from './requested.ts'
import require from './require.ts'
import recordRouting from './record-routing.ts'
import resolve from './resolve.ts'
import select from './select.ts'
import shortlist from './shortlist.ts'
import smartRouting from './smart-routing.ts'

export default definePlugin({
  name: 'routing',
  summary: 'Turns the requested model name into candidates.',
  stability: 'stable',
  errors,
  slots: [
    defineSlot({ name: 'preferences', summary: 'What a request for a virtual model says about how it is routed.' }),
    defineSlot({ name: 'shortlist', summary: 'The models that may serve a request for a virtual model.' }),
    defineSlot({ name: 'decision', summary: 'How a request for a virtual model was decided.' }),
  ],
  services: [smartRouting],
  stages: [resolve, require, requested, pin, shortlist, select, followDecision, recordRouting],
  actions: [listExperience],
})
