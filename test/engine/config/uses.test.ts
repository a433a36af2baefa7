import { expect } from 'chai'
import { makeProgram } from '../../../engine/cli/program.ts'
import { ownCommands } from '../../../engine/components/recognise.ts'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { assemble } from '../../../engine/components/assemble.ts'
import { inOrder } from '../../../engine/config/uses.ts'
import { noConfig } from '../../../engine/index.ts'
import type { AnyService } from '../../../engine/index.ts'
import { stub } from '../pipeline/stubs.ts'

const service = (name: string, uses: readonly string[] = [], more: object = {}): AnyService => ({
  kind: 'service',
  name,
  summary: 's.',
  settings: noConfig,
  section: name,
  migrations: [],
  uses,
  ...more,
})

function assembled(...values: readonly object[]) {
  const { registry, diagnostics } = assemble(values.map((value, index) => ({ value, from: `${index}.ts` })))
  return { services: registry.services, found: diagnostics.map(printDiagnostic) }
}

const settings = (...names: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string', description: 'd.' }])),
})

describe('uses', () => {
  it('puts services behind those that they use', () => {
    const { services, found } = assembled(service('a', ['c', 'b']), service('b', ['c']), service('c'), service('d'))
    expect(found).to.deep.equal([])
    expect(inOrder(services).map(({ name }) => name)).to.deep.equal(['c', 'b', 'a', 'd'])
  })

  it('finds services that are not there, of services and stages', () => {
    const stage = { ...stub('limit', [], []), uses: ['budget'] }
    expect(assembled(service('budgets', ['ledger']), stage).found).to.deep.equal([
      '1.ts:1:1: stage "limit" uses the service "budget", which does not exist; did you mean "budgets"? [unknown-service]',
      '0.ts:1:1: service "budgets" uses the service "ledger", which does not exist [unknown-service]',
    ])
  })

  it('finds circles', () => {
    const { found } = assembled(service('a', ['b']), service('b', ['c', 'b']), service('c', ['a']), service('d', ['a']))
    expect(found).to.deep.equal([
      '0.ts:1:1: services use each other in a circle: a -> b -> c -> a [service-cycle]',
      '1.ts:1:1: services use each other in a circle: b -> b [service-cycle]',
    ])
  })

  it('finds a setting that two own', () => {
    const { found } = assembled(
      service('a', [], { section: 'limits', settings: settings('one', 'two') }),
      service('b', [], { section: 'limits', settings: settings('two', 'three') }),
      service('c', [], { section: 'logging', settings: settings('level') }),
    )
    expect(found).to.deep.equal([
      '1.ts:1:1: service "b": server_config.limits.two belongs to the service "a" [duplicate]',
      '2.ts:1:1: service "c": server_config.logging.level belongs to the engine [duplicate]',
    ])
  })

  it('finds what is wrong with a command', () => {
    const fields = settings('key')
    const command = (name: string, more: object = {}) => ({
      kind: 'command',
      name,
      summary: 's.',
      options: fields,
      arguments: [],
      uses: [],
      run: () => Promise.resolve(0),
      ...more,
    })
    expect(
      assembled(
        command('ledger show', { uses: ['ledger'] }),
        command('list rotate'),
        command('Bad'),
        command('a b c'),
        command('a', { arguments: ['name'] }),
        command('b', { options: settings('json') }),
        command('c', { run: undefined }),
      ).found,
    ).to.deep.equal([
      '1.ts:1:1: command "list rotate": the engine has a command with this name already [component]',
      '2.ts:1:1: a command needs a name of one word or two, of lower-case letters, digits and "-" [component]',
      '3.ts:1:1: a command needs a name of one word or two, of lower-case letters, digits and "-" [component]',
      '4.ts:1:1: command "a": "arguments" must be a list of its options [component]',
      '5.ts:1:1: command "b": every command has an option "json" already [component]',
      '6.ts:1:1: command "c" has no run function [component]',
      '0.ts:1:1: command "ledger show" uses the service "ledger", which does not exist [unknown-service]',
    ])
  })

  it('keeps plugins from the words of all commands of the engine', () => {
    const program = makeProgram({ environment: {} } as never, () => undefined)
    expect([...ownCommands].sort()).to.deep.equal([...program.commands.map((one) => one.name()), 'help'].sort())
  })

  it('refuses what is no service', () => {
    const migration = { name: 'one', up: () => Promise.resolve() }
    const problems = assembled(
      service('Bad-name'),
      service('a', [], { open: 1 }),
      service('b', 'c' as never),
      service('d', [], { settings: {} }),
      service('e', [], { section: '' }),
      service('f', [], { migrations: [{ name: 'one' }] }),
      service('g', [], { migrations: [migration, migration] }),
    )
    expect(problems.found).to.deep.equal([
      '0.ts:1:1: a service needs a name of lower-case letters, digits and "_" [component]',
      '1.ts:1:1: service "a": "open" must be a function [component]',
      '2.ts:1:1: service "b": "uses" must be a list of services [component]',
      '3.ts:1:1: service "d": its settings must be an object schema with additionalProperties: false [component]',
      '4.ts:1:1: service "e": "section" must be lower-case letters, digits and "_" [component]',
      '5.ts:1:1: service "f": "migrations" must be a list, each with a name and a function "up" [component]',
      '6.ts:1:1: service "g": two migrations have the same name [component]',
    ])
  })
})
