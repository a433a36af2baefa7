import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Refusal, defineCommand, definePlugin, defineProvider, defineService } from 'sluice'

declare module 'sluice' {
  interface Services {
    harbour: { readonly ships: readonly string[]; readonly file: string }
    tides: { readonly height: number }
  }
}

const file = { type: 'string', description: 'Where its troubles stand.' } as const

/**
 * Cannot be configured while the file says so: `1` once, `2` twice; `mast` while there is a model of that name, `-mast`
 * while there is none. It does not say which.
 */
const harbour = defineService({
  name: 'harbour',
  summary: 'Where ships come in.',
  settings: { type: 'object', additionalProperties: false, required: ['file'], properties: { file } } as const,
  open: () => ({
    configure({ file: path }, _, { catalog }) {
      const trouble = existsSync(path) ? readFileSync(path, 'utf8') : ''
      const times = Number(trouble)
      if (times > 0) {
        writeFileSync(path, String(times - 1))
        throw new Error('nobody is at the harbour')
      }
      if (catalog.models.some(({ name }) => name === trouble)) throw new Refusal('a ship is too large')
      const wanted = trouble.startsWith('-') ? trouble.slice(1) : undefined
      if (wanted && !catalog.models.some(({ name }) => name === wanted)) throw new Refusal('a ship is too small')
      return { view: { ships: catalog.models.map(({ name }) => name), file: path } }
    },
  }),
})

/** Cannot be configured as often as a file beside that of the harbour says. */
const tides = defineService({
  name: 'tides',
  summary: 'How the water stands.',
  settings: {
    type: 'object',
    additionalProperties: false,
    properties: { height: { type: 'integer', default: 1, description: 'How high it is.' } },
  } as const,
  uses: ['harbour'],
  open: () => ({
    configure(settings, { harbour: { file: path } }) {
      const tide = `${path}.tide`
      const times = existsSync(tide) ? Number(readFileSync(tide, 'utf8')) : 0
      if (times === 0) return { view: settings }
      writeFileSync(tide, String(times - 1))
      throw new Error('nobody has looked at the water')
    },
  }),
})

/** Cannot be opened while there is a file. */
const ship = defineProvider({
  name: 'ship',
  summary: 'Comes and goes.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['file'],
    properties: { file, flag: { type: 'string', description: 'What nobody may see.' } },
  } as const,
  secrets: ['flag'],
  offers: () => [{ operation: 'generate' }],
  open({ file: path, flag = '' }) {
    if (existsSync(path)) throw new Error(`the ship under ${flag} is at sea`)
    return {}
  },
})

const ships = defineCommand({
  name: 'ships',
  summary: 'Name the ships.',
  options: { type: 'object', additionalProperties: false, properties: {} } as const,
  uses: ['harbour'],
  run(_, services, { out }) {
    out(services.harbour.ships.join(' '))
    return Promise.resolve(0)
  },
})

export default definePlugin({
  name: 'harbour',
  summary: 'Ships.',
  services: [harbour, tides],
  providers: [ship],
  commands: [ships],
})
