import { defineGuard, definePlugin } from 'sluice'
import { baseUrl, isObject, jsonService } from 'sluice/kit'

/** Asks LLM Guard about each text: POST /analyze/prompt, or /analyze/output with what was asked. */
const llmGuard = defineGuard({
  name: 'llm-guard',
  summary: 'Asks LLM Guard about requests and answers.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['url'],
    properties: {
      url: { ...baseUrl, description: 'Address of the API of LLM Guard.' },
      token: { type: 'string', minLength: 1, description: 'Its token.' },
    },
  } as const,
  secrets: ['token'],
  build({ url, token }, host) {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const at = (path: string) => jsonService(`${url.replace(/\/$/, '')}/analyze/${path}`, headers, host)
    const [prompts, outputs] = [at('prompt'), at('output')]
    return async ({ texts, side, request }, scope) => {
      const asked = side === 'output' ? JSON.stringify(request.body) : ''
      const answers = await Promise.all(
        texts.map(({ text }) =>
          side === 'input' ? prompts.ask({ prompt: text }, scope) : outputs.ask({ prompt: asked, output: text }, scope),
        ),
      )
      const found = answers.map((answer, index) => ({ index, ...verdictIn(answer, side) })).filter(({ hit }) => hit)
      // What it has changed takes the place of the text; where it has changed nothing, all of the text counts.
      const changed = found.filter(({ text, index }) => text !== texts[index]?.text)
      const whole = found.filter((one) => !changed.includes(one))
      const [worst] = found.toSorted((left, right) => right.score - left.score)
      return {
        hit: found.length > 0,
        texts: changed.map(({ index, text }) => ({ text: index, with: text })),
        spans: whole.map(({ index }) => ({ text: index, start: 0, end: texts[index]?.text.length ?? 0 })),
        ...(worst && { category: worst.category, score: worst.score }),
      }
    }
  },
})

function verdictIn(answer: Readonly<Record<string, unknown>>, side: 'input' | 'output') {
  const { is_valid: valid, scanners, [side === 'input' ? 'sanitized_prompt' : 'sanitized_output']: text } = answer
  if (typeof valid !== 'boolean' || typeof text !== 'string') throw new Error('its answer is no verdict')
  const scores = Object.entries(isObject(scanners) ? scanners : {}).map(
    ([name, score]) => [name, Number(score)] as const,
  )
  const [category, score] = scores.toSorted(([, left], [, right]) => right - left)[0] ?? ['unknown', 1]
  return { hit: !valid, text, category, score: Math.min(1, Math.max(0, score)) }
}

export default definePlugin({ name: 'llm-guard', summary: 'Guards by LLM Guard.', guards: [llmGuard] })
