import { expect } from 'chai'
import type { GenerateRequest, Item, JsonObject } from '../../../../engine/index.ts'
import { origin, printed, target } from './fixtures.ts'

const user: Item = { type: 'message', role: 'user', content: [{ type: 'text', text: 'go' }] }
const call: Item = { type: 'call', kind: 'function', callId: 'a', name: 'look', input: '{}' }
const result: Item = { type: 'result', kind: 'function', callId: 'a', content: [{ type: 'text', text: 'seen' }] }
const thought: Item = {
  type: 'reasoning',
  parts: [{ kind: 'summary', text: 't' }],
  seal: { origin, kind: 'signature', data: 's' },
}
const look = { type: 'function', name: 'look' } as const

interface Case {
  readonly name: string
  readonly request: Partial<GenerateRequest>
  readonly traits?: Record<string, string | boolean>
  /** `max_output_tokens` of the model's record; null: unknown. */
  readonly record?: number | null
  readonly body: JsonObject
  readonly lost?: string[]
}

const enabled = (budget: number, more: JsonObject = {}) => ({ type: 'enabled', budget_tokens: budget, ...more })
const disabled = { type: 'disabled' }

const cases: Case[] = [
  { name: 'no wish', request: {}, body: { max_tokens: 8192, thinking: undefined } },
  {
    name: 'a budget',
    request: { reasoning: { budget: 2000 }, maxOutputTokens: 4000 },
    body: { max_tokens: 4000, thinking: enabled(2000) },
  },
  {
    name: 'a budget equal to max_tokens',
    request: { reasoning: { budget: 4000, summary: 'none' }, maxOutputTokens: 4000 },
    body: { max_tokens: 4000, thinking: enabled(3999, { display: 'omitted' }) },
    lost: ['reasoning.budget'],
  },
  {
    name: 'a budget below the least',
    request: { reasoning: { budget: 10, summary: 'detailed' } },
    body: { max_tokens: 8192, thinking: enabled(1024, { display: 'summarized' }) },
    lost: ['reasoning.budget'],
  },
  {
    name: 'no room for the least budget',
    request: { reasoning: { budget: 2000 }, maxOutputTokens: 1024 },
    body: { max_tokens: 1024, thinking: disabled },
    lost: ['reasoning'],
  },
  { name: 'an effort', request: { reasoning: { effort: 'low' } }, body: { max_tokens: 8192, thinking: enabled(2048) } },
  {
    name: 'an effort above the record',
    request: { reasoning: { effort: 'max' } },
    body: { max_tokens: 8192, thinking: enabled(8191) },
  },
  {
    name: 'an effort without a known limit',
    request: { reasoning: { effort: 'high' } },
    record: null,
    body: { max_tokens: 32_000, thinking: enabled(16384) },
  },
  {
    name: 'an effort beyond the usual limit',
    request: { reasoning: { effort: 'max' } },
    record: null,
    body: { max_tokens: 68_096, thinking: enabled(64_000) },
  },
  { name: 'effort none', request: { reasoning: { effort: 'none' } }, body: { max_tokens: 8192, thinking: disabled } },
  {
    name: 'effort none where thinking cannot be switched off',
    request: { reasoning: { effort: 'none' } },
    traits: { thinking: 'always' },
    body: { thinking: undefined },
    lost: ['reasoning.effort'],
  },
  {
    name: 'a wish to a model that does not think',
    request: { reasoning: { effort: 'high' } },
    traits: { thinking: false },
    body: { thinking: undefined },
    lost: ['reasoning'],
  },
  {
    name: 'a wish without measure',
    request: { reasoning: { summary: 'auto' } },
    body: { thinking: undefined },
    lost: ['reasoning'],
  },
  {
    name: 'an effort to an upstream that takes one',
    request: { reasoning: { effort: 'minimal', summary: 'auto' } },
    traits: { effort: true },
    body: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
  },
  {
    name: 'a budget to an upstream that takes an effort',
    request: { reasoning: { budget: 9000 } },
    traits: { effort: true },
    body: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    lost: ['reasoning.budget'],
  },
  {
    name: 'an effort nobody knows',
    request: { reasoning: { effort: 'heroic' } },
    traits: { effort: true },
    body: { thinking: { type: 'adaptive' }, output_config: undefined },
    lost: ['reasoning.effort'],
  },
  {
    name: 'a forced tool',
    request: { reasoning: { budget: 2000 }, tools: [look], toolChoice: { type: 'required' } },
    body: { thinking: disabled, tool_choice: { type: 'any' } },
    lost: ['reasoning'],
  },
  {
    name: 'a forced tool beside adaptive thinking',
    request: { reasoning: { effort: 'high' }, tools: [look], toolChoice: { type: 'required' } },
    traits: { effort: true },
    body: { thinking: { type: 'adaptive' }, tool_choice: { type: 'any' } },
  },
  {
    name: 'last calls without their thinking',
    request: { reasoning: { budget: 2000 }, items: [user, call, result] },
    body: { thinking: disabled },
    lost: ['reasoning'],
  },
  {
    name: 'last calls with their thinking',
    request: { reasoning: { budget: 2000 }, items: [user, thought, call, result] },
    body: { thinking: enabled(2000) },
  },
  {
    name: 'sampling beside thinking',
    request: { reasoning: { budget: 2000 }, temperature: 0.3, topP: 0.5, topK: 2 },
    body: { thinking: enabled(2000), temperature: undefined, top_p: undefined, top_k: undefined },
    lost: ['temperature', 'top_p', 'top_k'],
  },
  {
    name: 'the default temperature beside thinking',
    request: { reasoning: { budget: 2000 }, temperature: 1 },
    body: { thinking: enabled(2000), temperature: undefined },
  },
]

describe('messages: printing thinking', () => {
  for (const { name, request, traits, record, body, lost = [] } of cases)
    it(name, () => {
      const found = printed(request, target(traits, record))
      for (const [field, value] of Object.entries(body)) expect(found.body[field], field).to.deep.equal(value)
      expect(found.lost).to.deep.equal(lost)
    })
})
