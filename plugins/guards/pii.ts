import { guardOf } from './entities.ts'

/** Finds data of persons. Where a number has a checksum, that decides. */
export default guardOf(
  'pii',
  'Finds addresses of e-mail, numbers of telephones, accounts and cards, IP addresses, US social security numbers.',
)
