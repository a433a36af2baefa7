import { defineAction } from '../../engine/index.ts'
import type { JsonObject, SectionView } from '../../engine/index.ts'
import { answered, formOf, shape, versionsIn } from '../../engine/kit.ts'
import { beside, bodyOf, codesOfChanges, codesOfValues, notFound } from './record-actions.ts'

const path = '/api/config/server'
const access = { role: 'admin' } as const
const writes = { record: 'section' } as const

const fields = {
  section: shape.text('Its name.'),
  values: { ...bodyOf('section'), description: 'Its settings, with defaults filled in and without secrets.' },
  defaults: shape.map({}, 'The defaults of the settings that have one.'),
  overridden: shape.map(shape.text('What gives it.'), 'The settings that something else gives, by name.'),
  source: shape.word(['file', 'database', 'default'], 'Where its settings come from.'),
  version: beside.version,
  updated_at: beside.updated_at,
  updated_by: shape.orNull(shape.text('Name of who changed it last; null: the gateway itself.')),
  problem: beside.problem,
} as const
const sometimes = { secrets: beside.secrets, declared_at: beside.declared_at }
const form = { schema: shape.json('JSON Schema of its settings, for a form.') }

/** The actions that show and change the sections of `server_config`. */
export const sectionActions = [
  defineAction({
    name: 'list-section',
    summary: 'Answer the sections of the settings.',
    route: `GET ${path}`,
    access,
    answer: shape.all(shape.object(fields, sometimes)),
    run: (_input, _services, _scope, { records }) => ({ data: records.sections().map(sectionWire) }),
  }),
  defineAction({
    name: 'get-section',
    summary: 'Answer a section of the settings, with the schema of its form.',
    route: `GET ${path}/:name`,
    access,
    answer: shape.object({ ...fields, ...form }, sometimes),
    run({ params }, _services, _scope, { records }) {
      const section = sectionIn(records.sections(), params.name)
      return answeredSection(section, { schema: formOf(section.schema) })
    },
  }),
  defineAction({
    name: 'change-section',
    summary: 'Change a section of the settings with a merge patch (RFC 7396).',
    route: `PATCH ${path}/:name`,
    access,
    body: bodyOf('section'),
    answer: shape.object(fields, sometimes),
    errors: [...codesOfValues, 'secret_required'],
    writes,
    async run({ body, params: { name }, ingress, by }, _services, _scope, { records }) {
      const patch = body as JsonObject
      const changed = await records.change({ kind: 'change', type: 'section', name, patch, ...versionsIn(ingress) }, by)
      if (changed === undefined) throw notFound('section', name)
      const { defaults, schema, overridden } = sectionIn(records.sections(), name)
      return answeredSection({ ...changed, defaults, schema, overridden })
    },
  }),
  defineAction({
    name: 'reset-section',
    summary: 'Reset a section of the settings to its defaults.',
    route: `DELETE ${path}/:name`,
    access,
    errors: codesOfChanges,
    writes,
    async run({ params: { name }, ingress, by }, _services, _scope, { records }) {
      await records.change({ kind: 'delete', type: 'section', name, ...versionsIn(ingress) }, by)
    },
  }),
]

/** The section with this name. Throws `not_found` if there is none. */
function sectionIn(sections: readonly SectionView[], name: string): SectionView {
  const section = sections.find((one) => one.name === name)
  if (section === undefined) throw notFound('section', name)
  return section
}

/** A section for clients: its settings and their state, without secrets. */
function sectionWire({ name, value, defaults, overridden, shown, stored }: SectionView): JsonObject {
  const { created_at: _, ...about } = shown
  return {
    section: name,
    values: value,
    defaults,
    overridden: { ...overridden },
    updated_at: null,
    ...about,
    updated_by: stored?.updatedBy ?? null,
  }
}

/** A whole section, with its version as entity tag. */
function answeredSection(section: SectionView, more: JsonObject = {}) {
  return answered({ ...sectionWire(section), ...more }, { version: section.stored?.version })
}
