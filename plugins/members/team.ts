import { defineService } from '../../engine/index.ts'
import { MemberChanges } from './member-changes.ts'
import { modelNames } from './member-rules.ts'

declare module '../../engine/index.ts' {
  interface Services {
    team: MemberChanges
  }
}

/** Reads and changes members, for stages and commands of this plugin. */
export default defineService({
  name: 'team',
  summary: 'Changes members, with a row of the audit trail for each change.',
  uses: ['members', 'audit', 'limits'],
  open: (host) => ({
    configure: (_settings, views, { catalog }) => ({
      view: new MemberChanges({ ...views, host, names: modelNames(catalog.models) }),
    }),
  }),
})
