import { guardOf } from './entities.ts'

/** Finds keys, tokens and passwords of programs. */
export default guardOf(
  'secrets',
  'Finds keys of APIs, private keys and tokens: by the marks of their vendors, or by the word beside them.',
)
