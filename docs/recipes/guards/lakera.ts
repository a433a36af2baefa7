import { defineGuard, definePlugin } from 'sluice'
import { baseUrl, isObject, jsonService } from 'sluice/kit'

/** Asks Lakera Guard about a conversation: POST /v2/guard. */
const lakera = defineGuard({
  name: 'lakera',
  summary: 'Asks Lakera Guard about requests and answers.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['api_key'],
    properties: {
      url: { ...baseUrl, default: 'https://api.lakera.ai', description: 'Address of Lakera Guard.' },
      api_key: { type: 'string', minLength: 1, description: 'Its key.' },
      project: {
        type: 'string',
        minLength: 1,
        description: 'Project whose policy decides; unset: the default policy.',
      },
    },
  } as const,
  secrets: ['api_key'],
  build({ url, api_key: key, project }, host) {
    const service = jsonService(`${url.replace(/\/$/, '')}/v2/guard`, { authorization: `Bearer ${key}` }, host)
    return async ({ texts }, scope) => {
      if (texts.length === 0) return { hit: false }
      const messages = texts.map(({ role, text }) => ({ role, content: text }))
      const body = { messages, breakdown: true, ...(project !== undefined && { project_id: project }) }
      const { flagged, breakdown } = await service.ask(body, scope)
      if (typeof flagged !== 'boolean') throw new Error('its answer does not say "flagged"')
      const detected = (Array.isArray(breakdown) ? breakdown : [])
        .filter(isObject)
        .filter((one) => one['detected'] === true)
      // It counts the messages, and may not say which one it is: then all of them count.
      const named = detected.flatMap((one) => (typeof one['message_id'] === 'number' ? [one['message_id']] : []))
      const spans = texts.flatMap(({ text }, index) =>
        named.length === 0 || named.includes(index) ? [{ text: index, start: 0, end: text.length }] : [],
      )
      const category = detected[0]?.['detector_type']
      return { hit: flagged, ...(flagged && { spans }), ...(typeof category === 'string' && { category }) }
    }
  },
})

export default definePlugin({ name: 'lakera', summary: 'Guards by Lakera Guard.', guards: [lakera] })
