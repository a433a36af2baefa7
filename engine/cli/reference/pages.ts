import type { Command } from 'commander'
import { fileProperties } from '../../records/file-properties.ts'
import type { Registry } from '../../config/registry.ts'
import { findings, retryMeaning, toldCodes } from '../codes.ts'
import { openApi } from '../../openapi/document.ts'
import type { Documented } from '../../openapi/document.ts'
import { rowsOf } from '../../openapi/errors.ts'
import type { Schema } from '../../openapi/example-of.ts'
import { adminPage } from './admin.ts'
import { commandsPage } from './commands.ts'
import { componentsOf } from './components.ts'
import type { Component } from './components.ts'
import type { Kind } from '../kinds.ts'
import { fieldsOf } from './fields.ts'
import { pipelinesPage } from './pipelines.ts'
import { code, fieldTable, page, table } from './markdown.ts'

/** The reference: Markdown pages by file name, generated from the registered components and declared commands. */
export function referencePages(documented: Documented, program: Command): ReadonlyMap<string, string> {
  const { registry } = documented
  return new Map([
    ['stages.md', componentsPage('stages', registry)],
    ['admin.md', kindPage('actions', documented)],
    ['slots.md', componentsPage('slots', registry)],
    ['pipelines.md', pipelinesPage()],
    ['codecs.md', componentsPage('codecs', registry)],
    ['providers.md', componentsPage('providers', registry)],
    ['guards.md', componentsPage('guards', registry)],
    ['plugins.md', componentsPage('plugins', registry)],
    ['services.md', componentsPage('services', registry)],
    ['records.md', componentsPage('records', registry)],
    ['settings.md', settingsPage(registry)],
    ['errors.md', errorsPage(registry)],
    ['commands.md', commandsPage(program)],
  ])
}

const introductions: Readonly<Record<Kind, readonly [string, string]>> = {
  stages: [
    'Stages',
    'The steps of pipelines. A pipeline is refused when it is loaded unless each stage gets the slots it needs. A stage ' +
      'may take 60 seconds, or the time that it gives as "within". Any step, also an include, a switch or an attempt as a ' +
      'whole, may have another limit next to its name: `- call: {}` with `timeout: 5m` on the next line. After that time the next ' +
      'candidate of an attempt is tried, or the answer is 504 `stage_timeout`. Reading the body of a client does not count.',
  ],
  actions: [
    'Admin API',
    'The actions, each of which answers one route, in groups by the plugins that bring them. They are served by the pipeline `admin`, unless another pipeline serves the route. `GET /api/openapi.json` and `sluice schema --openapi` give the same as an OpenAPI document, with the schemas of all answers. `For` is the lowest role of a member; `any`: whoever is signed in; `key`: the holder of an API key. Fields with `?` are parameters of the query, the others are those of the body.',
  ],
  slots: [
    'Slots',
    'The values that stages hand to each other. A condition reads the fields of a slot by a dotted path: `when: { principal.name: alice }`.',
  ],
  codecs: [
    'Codecs',
    "The protocols that clients and providers speak. A pipeline names its clients' protocol; a provider says which protocols it serves. The fields are traits, which the `traits` of a provider set: what an upstream of the protocol can and cannot do.",
  ],
  providers: [
    'Providers',
    'The types of providers, for `providers:` in the configuration. Each also has `name` and `type`.',
  ],
  signals: ['Signals', 'The classifiers of requests. They run in the worker pool.'],
  guards: [
    'Guards',
    'The kinds of guards, for `guards:` in the configuration. Each also has the fields of [every guard](records.md#guard).',
  ],
  services: [
    'Services',
    'What stages share and what outlives an exchange. The fields are settings, below `server_config`.',
  ],
  records: [
    'Records',
    'Things with a name. They are declared in a list of the configuration, or created while the gateway runs.',
  ],
  plugins: [
    'Plugins',
    'Plugins provide the stages, actions, codecs, providers, signals, guards, services and records.',
  ],
  errors: ['Errors', 'The errors that clients get, of the engine and of plugins.'],
}

/** The page of one kind of component. */
export function kindPage(kind: Kind, documented: Documented): string {
  return kind === 'actions'
    ? adminPage(...introductions.actions, openApi(documented, ''), rowsOf(documented.registry))
    : componentsPage(kind, documented.registry)
}

function componentsPage(kind: Kind, registry: Registry): string {
  const [title, introduction] = introductions[kind]
  return page(title, introduction, componentsOf(kind, registry).map(section))
}

function section({ name, summary, facts, fields, example }: Component): string {
  const told = facts.map(([word, text]) => `- ${word}: ${text}`).join('\n')
  const parts = [`## ${name}`, summary, told, fieldTable(fields), example === '' ? '' : `\`\`\`yaml\n${example}\`\`\``]
  return parts.filter((part) => part !== '').join('\n\n')
}

function settingsPage(registry: Registry): string {
  const introduction =
    'The configuration file, `config/sluice.yaml`; `--config` or `SLUICE_CONFIG` names another. Every text may contain `${NAME}` or `${NAME:-default}`, which the environment fills in. The fields of providers other than `name` and `type` are in [Providers](providers.md).'
  const sections = Object.entries(fileProperties(registry) as Readonly<Record<string, Schema>>).map(
    ([name, schema]) => {
      const fields = fieldsOf({ properties: { [name]: schema } })
      return `## ${name}\n\n${fieldTable(fields)}`
    },
  )
  return page('Settings', introduction, sections)
}

function errorsPage(registry: Registry): string {
  const answered = toldCodes(registry).map(({ code: name, status, type, retry, message, from, advice }) => [
    code(name),
    String(status),
    code(type),
    retry,
    message,
    from,
    advice,
  ])
  const words = Object.entries(retryMeaning).map(([word, meaning]) => `- ${word}: ${meaning}.`)
  const found = [...findings].map(([name, meaning]) => [code(name), meaning])
  return page(
    'Errors',
    'The errors that clients get, and the findings of `sluice check`. `sluice explain code <code>` shows the same.',
    [
      [
        '## Answers',
        'Each protocol gives errors its own shape. `Retry` says whether the same request may succeed later:',
        words.join('\n'),
        table(['Code', 'Status', 'Type', 'Retry', 'Message', 'From', 'What to do'], answered),
      ].join('\n\n'),
      ['## Findings', 'Printed as `file:line:column: message [code]`.', table(['Code', 'What it means'], found)].join(
        '\n\n',
      ),
    ],
  )
}
