import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  content_filter: {
    status: 400,
    message: '{reason}',
    advice: 'Change the text at `param`; the operator decides what is blocked.',
  },
  guard_unavailable: {
    status: 503,
    retry: 'same',
    message: 'The guard "{guard}" could not judge, and without its verdict nothing passes.',
    advice: 'Try again; the log says why the guard failed. An operator may let it pass with `on_error: open`.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
