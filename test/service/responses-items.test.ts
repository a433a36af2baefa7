import { expect } from 'chai'
import type { Json, JsonObject } from '../../engine/index.ts'
import { conforms } from '../conformance/responses/check.ts'
import { Rig, kinds } from './responses-rig.ts'

const image = 'data:image/png;base64,iVBORw0KGgo='

/** Items of every type that a client may send, among them calls with their results. */
const items: readonly JsonObject[] = [
  ...['user', 'system', 'developer', 'assistant', 'critic'].map((role) => ({ role, content: `I am ${role}.` })),
  { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}', status: 'completed' },
  { type: 'function_call_output', call_id: 'call_1', output: 'Sun' },
  { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: '+ x' },
  { type: 'custom_tool_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'done' }] },
  { type: 'reasoning', id: null, summary: [], content: null, encrypted_content: null, status: null },
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
  { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' },
  { type: 'local_shell_call', id: 'l_1', call_id: 'call_3', action: { type: 'exec', command: ['ls', '-l'], env: {} } },
  { type: 'local_shell_call_output', id: 'call_3', output: 'a.txt' },
  { type: 'tool_search_call', call_id: 's_1', execution: 'server', arguments: {} },
  { type: 'tool_search_output', call_id: 's_1', execution: 'server', tools: [] },
  { type: 'agent_message', author: 'a', recipient: 'b', content: [{ type: 'input_text', text: 'Psst.' }] },
  { type: 'additional_tools', role: 'developer', tools: [] },
  { type: 'compaction_trigger' },
  { type: 'acme:brand_new', value: 1 },
]

/** Content parts of every type, and forms that stand for nothing anybody knows. */
const parts: readonly JsonObject[] = [
  { type: 'input_text', text: 'Look:' },
  { type: 'input_image', image_url: image, detail: 'original' },
  { type: 'input_image', file_id: 'file_1', detail: 'auto' },
  { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0xLjc=', filename: 'a.pdf' },
  { type: 'input_file', file_id: 'file_2' },
  { type: 'input_video', video_url: 'https://videos.example/a.mp4' },
  { type: 'input_audio', audio_data: 'AAAA', format: 'wav' },
  { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
  { type: 'encrypted_content', encrypted_content: 'abc' },
  { type: 'brand_new', value: 1 },
]

describe('what a responses client may send', () => {
  const rig = new Rig()

  async function ask(model: string, body: object) {
    const response = await rig.gateway.post('/v1/responses', { model, ...body })
    const answer = (await response.json()) as JsonObject
    expect(response.status, JSON.stringify(answer)).to.equal(200)
    return { answer, losses: (response.headers.get('x-gateway-losses') ?? '').split(', ') }
  }

  for (const kind of kinds) {
    it(`items of every type, to a ${kind} upstream`, async () => {
      rig.answer(kind, 'length')
      const { losses } = await ask(kind, { input: items })
      const sent = rig.asked()
      if (kind === 'native') {
        expect(sent).to.deep.equal({ model: 'upstream-1', input: items, include: ['reasoning.encrypted_content'] })
        return
      }
      for (const said of ['I am user.', 'I am critic.', 'Sun', '+ x', 'done', 'ls -l', 'a.txt', 'Psst.'])
        expect(JSON.stringify(sent)).to.contain(said)
      const word = (type: string) => (kind === 'messages' ? `input.${type}` : type)
      for (const type of ['web_search_call', 'image_generation_call', 'tool_search_call', 'tool_search_output'])
        expect(losses).to.include(word(type))
      for (const type of ['local_shell_call', 'agent_message', 'compaction_trigger'])
        expect(losses.join()).to.contain(type)
    })

    it(`content of every type, to a ${kind} upstream`, async () => {
      rig.answer(kind, 'length')
      const { losses } = await ask(kind, { input: [{ role: 'user', content: parts }] })
      if (kind === 'native') return expect(rig.asked()['input']).to.deep.equal([{ role: 'user', content: parts }])
      const [message] = rig.asked()['messages'] as { content: JsonObject[] }[]
      const image = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
      const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjc=' }
      const placeholder = (text: string) => ({ type: 'text', text: `[${text}]` })
      const expected: Record<string, Json> = {
        compatible: [
          { type: 'text', text: 'Look:' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${image.data}`, detail: 'high' } },
          placeholder('image omitted'),
          placeholder('file omitted'),
          placeholder('file omitted'),
          placeholder('audio omitted'),
          placeholder('audio omitted'),
        ],
        messages: [
          { type: 'text', text: 'Look:' },
          { type: 'image', source: image },
          placeholder('image omitted'),
          { type: 'document', source: pdf, title: 'a.pdf' },
          placeholder('file omitted'),
          placeholder('audio omitted'),
          placeholder('audio omitted'),
        ],
      }
      expect(message?.content).to.deep.equal(expected[kind])
      expect(losses.join()).to.contain('input_video').and.contain('encrypted_content').and.contain('brand_new')
    })
  }

  it('instructions as a list, which are echoed as they came', async () => {
    rig.answer('compatible', 'length')
    const instructions = [
      { type: 'message', role: 'developer', content: 'Be brief.' },
      { type: 'additional_tools', tools: [{ type: 'function', name: 'late' }] },
    ]
    const { answer } = await ask('compatible', { instructions, input: 'hello' })
    const { messages, tools } = rig.asked() as { messages: Json[]; tools: Json[] }
    expect(messages).to.deep.equal([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hello' },
    ])
    expect(tools).to.have.length(1)
    expect(answer['instructions']).to.deep.equal(instructions)
    conforms(answer)
  })

  it('every parameter, which the answer repeats', async () => {
    const echoed = {
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      temperature: 0.5,
      top_p: 0.25,
      presence_penalty: 0.5,
      frequency_penalty: -0.5,
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] },
      tools: [{ type: 'function', name: 'weather', description: 'Tells it.', parameters: {}, strict: false }],
      top_logprobs: 3,
      truncation: 'auto',
      text: { format: { type: 'json_object' }, verbosity: 'low' },
      reasoning: { effort: 'max', summary: 'auto', context: 'auto', mode: 'pro' },
      max_output_tokens: 50,
      max_tool_calls: 2,
      store: false,
      service_tier: 'flex',
      safety_identifier: 'ann',
      prompt_cache_key: 'thread',
      user: 'bob',
    }
    for (const model of ['echo', 'compatible', 'messages'] as const) {
      if (model !== 'echo') rig.answer(model, 'length')
      const { answer } = await ask(model, { ...echoed, input: 'hello', include: ['brand.new'] })
      conforms(answer)
      expect(answer).to.deep.include({ ...echoed, service_tier: answer['service_tier'], background: false })
    }
    expect((await ask('echo', { ...echoed, input: 'hello' })).answer['service_tier']).to.equal('flex')
  })

  it('a wish for reasoning that upstreams can understand', async () => {
    rig.answer('compatible', 'length')
    const { losses } = await ask('compatible', { input: 'hello', reasoning: { effort: 'xhigh', mode: 'pro' } })
    expect(rig.asked()['reasoning_effort']).to.equal('xhigh')
    expect(losses).to.deep.equal(['reasoning.mode'])
    rig.answer('messages', 'length')
    await ask('messages', { input: 'hello', max_output_tokens: 20_000, reasoning: { effort: 'low' } })
    expect(rig.asked()['thinking']).to.deep.equal({ type: 'enabled', budget_tokens: 2048 })
  })

  describe('and get of reasoning', () => {
    const gets = async (kind: 'compatible' | 'messages', body: object) => {
      rig.answer(kind, 'reasoning')
      const { answer } = await ask(kind, { input: 'hello', ...body })
      return (answer['output'] as JsonObject[])
        .filter(({ type }) => type === 'reasoning')
        .map((item) => 'encrypted_content' in item)
    }
    const included = { include: ['reasoning.encrypted_content'] }

    it('proofs always', async () => {
      for (const body of [{}, { store: true }, { store: false }, included])
        expect(await gets('messages', body)).to.deep.equal([true, true, true])
    })

    it('ciphertext when it is included or nothing is stored', async () => {
      expect(await gets('compatible', {})).to.deep.equal([true, false])
      expect(await gets('compatible', { store: true })).to.deep.equal([true, false])
      expect(await gets('compatible', { store: false })).to.deep.equal([true, true])
      expect(await gets('compatible', included)).to.deep.equal([true, true])
    })
  })
})
