import { expect } from 'chai'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { schema } from '../../../../plugins/protocols/messages/schema.ts'

const check = new Ajv2020({ strict: true }).compile(schema)
const minimal = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }

/** Where the first error stands, and what it says. */
function refusal(body: unknown): string | undefined {
  return check(body) ? undefined : `${check.errors?.[0]?.instancePath} ${check.errors?.[0]?.message}`
}

function content(...blocks: unknown[]): unknown {
  return { ...minimal, messages: [{ role: 'user', content: blocks }] }
}

describe('messages: schema of a request', () => {
  it('accepts what clients send, unknown fields and blocks included', () => {
    expect(refusal(minimal)).to.equal(undefined)
    expect(
      refusal({ ...minimal, max_tokens: 0, system: null, tools: null, thinking: null, tool_choice: null, anything: 1 }),
    ).to.equal(undefined)
    expect(
      refusal({
        ...minimal,
        system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        thinking: { type: 'enabled', budget_tokens: 31999, display: 'omitted' },
        tools: [{ name: 'a', input_schema: { type: 'object' } }, { type: 'computer_toolset_20260801' }],
        messages: [
          { role: 'system', content: 'x' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: '', signature: 's' },
              { type: 'new_block', any: 1 },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: null, is_error: null }] },
        ],
      }),
    ).to.equal(undefined)
  })

  const wrong: [unknown, string][] = [
    [{ model: 'm', messages: minimal.messages }, " must have required property 'max_tokens'"],
    [{ ...minimal, messages: [] }, '/messages must NOT have fewer than 1 items'],
    [
      { ...minimal, messages: [{ role: 'tool', content: 'x' }] },
      '/messages/0/role must be equal to one of the allowed values',
    ],
    [{ ...minimal, messages: [{ role: 'user', content: 5 }] }, '/messages/0/content must be string'],
    [content({ type: 'text' }), "/messages/0/content/0 must have required property 'text'"],
    [content({ text: 'a' }), "/messages/0/content/0 must have required property 'type'"],
    [content({ type: 'tool_use', id: 'a', name: 'b', input: 'c' }), '/messages/0/content/0/input must be object'],
    [
      content({ type: 'image', source: { type: 'base64', data: 'x' } }),
      "/messages/0/content/0/source must have required property 'media_type'",
    ],
    [
      content({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 1 }] }),
      '/messages/0/content/0/content/0/text must be string',
    ],
    [{ ...minimal, tools: [{ input_schema: {} }] }, "/tools/0 must have required property 'name'"],
    [{ ...minimal, thinking: { type: 'enabled' } }, "/thinking must have required property 'budget_tokens'"],
    [{ ...minimal, tool_choice: { type: 'tool' } }, "/tool_choice must have required property 'name'"],
  ]
  for (const [body, message] of wrong) it(`refuses: ${message}`, () => expect(refusal(body)).to.equal(message))
})
