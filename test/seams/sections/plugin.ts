import { Refusal, definePlugin, defineService, defineStage, noConfig } from 'sluice'

declare module 'sluice' {
  interface Services {
    greeting: { readonly say: (token: string) => string }
    parting: { readonly bye: string }
  }
  interface Tables {
    greeting_log: { line: string }
  }
}

/** Says hello, and writes down which section somebody changed. */
const greeting = defineService({
  name: 'greeting',
  summary: 'How guests are greeted.',
  section: 'manners',
  settings: {
    type: 'object',
    additionalProperties: false,
    description: 'How guests are treated.',
    properties: {
      word: { type: 'string', minLength: 1, default: 'Hello', description: 'What is said first.' },
      times: { type: 'integer', minimum: 1, default: 1, description: 'How often it is said.' },
      model: { type: 'string', 'x-names': 'model', description: 'Whom guests are shown to.' },
      token: { type: 'string', minLength: 8, description: 'What friends show.' },
    },
  } as const,
  secrets: ['token'],
  migrations: [
    {
      name: '1-log',
      async up({ schema }) {
        await schema.createTable('greeting_log').addColumn('line', 'text').execute()
      },
    },
  ],
  open: () => ({
    configure({ word, times, model, token }) {
      if (word === 'Begone') throw new Refusal('guests are not sent away', ['word'])
      const say = (shown: string) => {
        const friend = token !== undefined && shown === token ? ', friend' : ''
        return `${`${word} `.repeat(times).trim()}${friend}: ${model ?? 'nobody'}`
      }
      return { view: { say } }
    },
    async witness(transaction, { kind, type, name, before, after }, by) {
      const words = [before, after].map((one) => JSON.stringify(one?.value['word']))
      const line = `${by?.principal?.name}: ${kind} ${type} ${name} ${words.join('>')}`
      await transaction.insertInto('greeting_log').values({ line }).execute()
    },
  }),
})

/** Shares the section; its settings are its view. */
const parting = defineService({
  name: 'parting',
  summary: 'How guests are sent off.',
  section: 'manners',
  settings: {
    type: 'object',
    additionalProperties: false,
    description: 'How guests are treated.',
    properties: { bye: { type: 'string', default: 'Bye', description: 'What is said last.' } },
  } as const,
})

const greet = defineStage({
  name: 'greet',
  summary: 'Greet a guest.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['greeting', 'parting'],
  build:
    (_config, _host, services) =>
    ({ ingress: { query } }) => {
      const value = `${services.greeting.say(query.get('token') ?? '')}. ${services.parting.bye}`
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value } } }
    },
})

export default definePlugin({ name: 'manners', summary: 'Manners.', services: [greeting, parting], stages: [greet] })
