import { expect } from 'chai'
import { printDiagnostic, sortDiagnostics } from '../../../engine/config/diagnostics.ts'
import { loadSettings } from '../../../engine/records/load-settings.ts'
import { assemble } from '../../../engine/components/assemble.ts'
import type { Registry } from '../../../engine/config/registry.ts'
import { settingsSchema } from '../../../engine/cli/editor-schemas.ts'
import { secretsOf } from '../../../engine/records/secrets.ts'
import { readSource } from '../../../engine/config/source.ts'
import { definePlugin, defineProvider, defineRecord, defineService } from '../../../engine/index.ts'
import { stub } from '../pipeline/stubs.ts'

const text = { type: 'string', description: 'A text.' } as const
const boat = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'berths'],
  properties: {
    name: text,
    berths: { type: 'integer', minimum: 0, description: 'Who can sleep there.' },
    harbour: { ...text, 'x-names': 'harbour' },
    nicknames: { type: 'array', items: { type: 'string' }, default: [], description: 'Other names.' },
    code: { ...text, default: 'open sesame' },
  },
} as const
const harbour = { type: 'object', additionalProperties: false, required: ['name'], properties: { name: text } } as const

declare module '../../../engine/index.ts' {
  interface Services {
    port: object
  }
  interface Records {
    boat: { readonly name: string; readonly berths: number; readonly harbour?: string }
    harbour: { readonly name: string }
  }
}

const boats = defineRecord({
  name: 'boat',
  summary: 'Boats.',
  place: 'boats',
  schema: boat,
  secrets: ['code'],
  aliases: 'nicknames',
  optional: true,
  check({ berths, harbour: home }, all, report) {
    if (berths === 13) throw new Error('bad luck')
    const others = all.of('boat').filter((one) => one.harbour === home)
    if (home !== undefined && others.length > 2) report(['harbour'], 'full', `${home} has no room`)
    if (all.find('boat', 'flagship') === undefined) report([], 'lonely', 'there is no flagship', 'warning')
  },
})
const harbours = defineRecord({
  name: 'harbour',
  summary: 'Harbours.',
  place: 'harbours',
  schema: harbour,
  patterns: true,
})
const sea = definePlugin({ name: 'sea', summary: 'The sea.', records: [boats, harbours] })
const { registry, diagnostics: none } = assemble([{ value: sea, from: 'sea.ts' }])

function load(written: string, known: Registry = registry) {
  const { source, diagnostics } = readSource('s.yaml', written, {})
  const { settings, records, off, ...found } = loadSettings(source, known, {})
  const lines = sortDiagnostics([...diagnostics, ...found.diagnostics, ...found.warnings]).map(printDiagnostic)
  return { settings, records, off, lines }
}

describe('records', () => {
  it('are declared in a list of their own, and checked by their type', () => {
    expect(none).to.deep.equal([])
    const { records, lines } = load(`harbours: [{ name: Hull }, { name: 'port-*' }]
boats:
  - { name: Ann, berths: 2, harbour: Hull, nicknames: [flagship] }
  - { name: Bo, berths: 0, harbour: port-royal }
`)
    expect(lines).to.deep.equal([])
    expect(records.get('boat')?.map(({ value }) => value)).to.deep.equal([
      { name: 'Ann', berths: 2, harbour: 'Hull', nicknames: ['flagship'], code: 'open sesame' },
      { name: 'Bo', berths: 0, harbour: 'port-royal', nicknames: [], code: 'open sesame' },
    ])
  })

  it('are wrong at the place where they are', () => {
    const { settings, lines } = load(`harbours: [{ name: Hull }, 5]
boat: []
boats:
  - { name: Ann, berths: -1, harbour: Hul }
  - { name: Bo, berths: 1, harbour: Hull, nicknames: [Ann, flagship] }
  - { name: Cy, berths: 1, harbour: Hull, sails: 3 }
  - { name: Di, berths: 13 }
  - { name: Bo, berths: 1, harbour: Hull }
  - { name: Ed, berths: 1, harbour: Hull }
`)
    expect(settings).to.equal(undefined)
    expect(lines).to.deep.equal([
      's.yaml:1:28: must be an object [type]',
      's.yaml:2:1: unknown field "boat"; did you mean "boats"? [additionalProperties]',
      's.yaml:4:26: must be at least 0 [minimum]',
      's.yaml:4:39: no harbour named "Hul"; did you mean "Hull"? [unknown-harbour]',
      's.yaml:5:37: Hull has no room [full]',
      's.yaml:5:55: the name "Ann" is already taken by the boat number 1 [duplicate]',
      's.yaml:6:43: unknown field "sails" [additionalProperties]',
      's.yaml:7:5: the record "boat" cannot be checked: bad luck [record]',
      's.yaml:8:13: the name "Bo" is already taken by the boat number 2 [duplicate]',
      's.yaml:8:37: Hull has no room [full]',
      's.yaml:9:37: Hull has no room [full]',
    ])
    const { lines: warned } = load('boats: [{ name: Ann, berths: 1 }]')
    expect(warned).to.deep.equal(['s.yaml:1:9: warning: there is no flagship [lonely]'])
  })

  it('are off without their variables where that is allowed, and keep their secrets', () => {
    const written = `boats: [{ name: flagship, berths: 1, code: "\${CODE}" }, { name: Bo, berths: 2, code: rosebud }]`
    const { settings, records, off, lines } = load(written)
    expect(lines).to.deep.equal([])
    expect(off).to.deep.equal(['boat "flagship" is off: CODE is not set'])
    if (!settings) throw new Error('the settings are right')
    expect(secretsOf(settings, registry, records)).to.include('rosebud')
    expect(load(`harbours: [{ name: "\${NAME}" }]`).lines).to.deep.equal([
      's.yaml:1:20: NAME is not set; set it or write ${NAME:-default} [unset-variable]',
    ])
  })

  it('of a plugin that could not be loaded are not taken for mistakes', () => {
    const incomplete = { ...registry, incomplete: true }
    expect(load('ships: []\nlisten: { prot: 1 }', incomplete).lines).to.deep.equal([
      's.yaml:2:11: unknown field "prot"; did you mean "port"? [additionalProperties]',
    ])
  })

  it('are known to editors', () => {
    const { boats: list } = (settingsSchema(registry) as { properties: Record<string, unknown> }).properties
    expect(list).to.nested.include({ 'items.properties.harbour.x-names': 'harbour', description: 'Boats.' })
  })

  it('have a place that nobody else has, and name only what there is', () => {
    const found = (value: unknown) =>
      assemble([sea, value].map((one, index) => ({ value: one, from: `${index}.ts` }))).diagnostics.map(printDiagnostic)
    const fleet = { ...boats, name: 'fleet', place: 'listen' }
    expect(found(fleet)).to.deep.equal(['1.ts:1:1: record "fleet": listen belongs to the engine [duplicate]'])
    expect(found({ ...fleet, place: 'boats' })).to.deep.equal([
      '1.ts:1:1: record "fleet": boats belongs to the record "boat" [duplicate]',
    ])
    const properties = { one: { ...text, 'x-names': 'harbor' } }
    const stage = stub('sail', [], [], undefined, { type: 'object', additionalProperties: false, properties })
    expect(found(stage)).to.deep.equal([
      '1.ts:1:1: stage "sail": x-names: no type of record "harbor"; did you mean "harbour"? [unknown-record-type]',
    ])
  })

  it('are named only where names are looked for', () => {
    const found = (config: object) => {
      const stage = stub('sail', [], [], undefined, { type: 'object', additionalProperties: false, ...config })
      const { diagnostics } = assemble([sea, stage].map((value, index) => ({ value, from: `${index}.ts` })))
      return diagnostics.map(printDiagnostic)
    }
    const boatName = { ...text, 'x-names': 'boat' }
    const nothing = (owner: string) =>
      `1.ts:1:1: ${owner}: x-names: the name of a boat is not checked at this place of the schema [unchecked-name]`
    const list = { type: 'array', description: 'A list.' }
    for (const followed of [
      { properties: { not: boatName, if: { ...list, items: { anyOf: [boatName, { const: 1 }] } } } },
      { patternProperties: { '^x': boatName }, allOf: [{ properties: { xy: boatName } }] },
      { patternProperties: { '^x': text }, propertyNames: boatName },
    ])
      expect(found(followed)).to.deep.equal([])
    for (const lost of [
      { properties: { boats: { ...list, contains: boatName } } },
      { properties: { boat: { $ref: '#/$defs/boat' } }, $defs: { boat: boatName } },
    ])
      expect(found(lost)).to.deep.equal([nothing('stage "sail"')])
    const settings = { type: 'object', additionalProperties: false, properties: { boat: boatName } } as const
    const ferry = defineProvider({
      name: 'ferry',
      summary: 'A ferry.',
      config: settings,
      offers: () => [],
      open: () => ({ name: 'ferry', send: () => Promise.reject(new Error('never')) }) as never,
    })
    const { diagnostics } = assemble([sea, ferry].map((value, index) => ({ value, from: `${index}.ts` })))
    expect(diagnostics.map(printDiagnostic)).to.deep.equal([nothing('provider "ferry"')])
  })

  it('are named by settings of services', () => {
    const name = { ...text, 'x-names': 'boat' } as const
    const settings = { type: 'object', additionalProperties: false, properties: { boat: name } } as const
    const open = () => ({ configure: () => ({ view: {} }) })
    const port = defineService({ name: 'port', summary: 'A port.', settings, open })
    const found = assemble([sea, port].map((value, index) => ({ value, from: `${index}.ts` })))
    expect(found.diagnostics).to.deep.equal([])
    const boatOf = (named: string) =>
      load(`boats: [{ name: flagship, berths: 1 }]\nserver_config: { port: { boat: ${named} } }`, found.registry).lines
    expect(boatOf('flagship')).to.deep.equal([])
    expect(boatOf('flagshp')).to.deep.equal([
      's.yaml:2:32: no boat named "flagshp"; did you mean "flagship"? [unknown-boat]',
    ])
  })

  it('refuses what is no type of record', () => {
    const problems = (changes: object) =>
      assemble([{ value: { ...boats, ...changes }, from: 'b.ts' }]).diagnostics.map(({ message }) => message)
    expect(problems({ name: 'Boat' })).to.deep.equal(['a record needs a name of lower-case letters, digits and "_"'])
    expect(problems({ place: 'a.b' })).to.deep.equal([
      'record "boat": "place" must be lower-case letters, digits and "_"',
    ])
    expect(problems({ schema: { ...boat, required: [] } })).to.deep.equal([
      'record "boat": its schema must require a text "name"',
    ])
    for (const field of ['secrets', 'source', 'declared_at', 'version', 'created_at', 'updated_at', 'problem'])
      expect(
        problems({ schema: { ...boat, properties: { ...boat.properties, [field]: { type: 'string' } } } }),
      ).to.deep.equal([`record "boat": the field "${field}" belongs to every record`])
    expect(problems({ schema: { ...boat, additionalProperties: true } })).to.deep.equal([
      'record "boat": its config must be an object schema with additionalProperties: false',
    ])
    expect(problems({ check: 'never' })).to.deep.equal(['record "boat": "check" must be a function'])
  })
})
