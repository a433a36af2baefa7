const reasons: Readonly<Record<string, string>> = {
  hash_mismatch: 'its content does not fit its hash',
  broken_link: 'it does not follow the row before it',
  missing_row: 'it is missing',
  column_mismatch: 'its columns differ from its content',
  unexpected_row: 'it should not be there',
  tail_cut: 'it is missing: rows at the end were cut off',
  checkpoint_mismatch: 'it differs from a checkpoint of it',
}

/** Why nothing proves that the trail is whole, although no row is bad. */
const unproven: Readonly<Record<string, string>> = {
  wrong_secret: 'not verified: the master secret of this process did not sign them',
  unproven_tail: 'which fit, but no checkpoint proves that none is missing behind the last one',
}

export const words = {
  title: 'Audit',
  forbidden: 'the audit trail',
  table: 'Changes',

  // The list
  columns: {
    at: 'Time',
    sequence: 'Row',
    actor: 'Who',
    action: 'Action',
    target: 'What',
    outcome: 'Outcome',
    changes: 'Changes',
    address: 'Address',
    request: 'Request',
    hash: 'Hash',
  },
  actors: {
    member: 'a member',
    cli: 'the command line',
    system: 'the gateway',
    anonymous: 'not signed in',
  },
  outcomes: { ok: 'done', refused: 'refused' },
  empty: 'Nothing was changed yet. Every change that an admin makes is noted here, and who signed in.',
  emptyFiltered: 'No change fits these filters.',
  changesMore: (first: string, others: number) => `${first} and ${others} more`,

  // Filters
  fields: {
    action: 'Action',
    actor: 'Who',
    target: 'What',
    outcome: 'Outcome',
    since: 'From',
    until: 'Until',
  },
  targetExample: 'name or id',

  // One row
  row: (sequence: string) => `Row ${sequence}`,
  noRow: (sequence: string) => `There is no row ${sequence}.`,
  close: 'Close row',
  absolute: 'Time',
  details: 'Details',
  previous: 'Hash of the row before',
  noChanges: 'This row changes no field.',
  noChangesRefused: 'It was refused, so nothing changed.',
  unknown: 'not readable',

  // Verify
  verify: 'Verify',
  compare: 'Compare checkpoints',
  compareAction: (count: number) =>
    count === 0 ? 'Compare' : count === 1 ? 'Compare 1 checkpoint' : `Compare ${count} checkpoints`,
  checkpointsLabel: 'Checkpoints',
  checkpointsHint:
    'Lines of the process log or of a copy of audit.checkpoints that was kept elsewhere. Other lines are passed over.',
  noCheckpoint: 'There is no checkpoint in it.',
  wrongCheckpoint: (line: number) => `Line ${line} is no whole checkpoint.`,
  whole: (rows: string, head: string) => `${rows}, whole, head ${head}`,
  wholeEmpty: 'No rows, whole',
  rows: (rows: string) => (rows === '1' ? '1 row' : `${rows} rows`),
  checkpoints: (read: string) => (read === '1' ? '1 checkpoint fits' : `${read} checkpoints fit`),
  badCheckpoints: (bad: string, read: string) => `${bad} of ${read} checkpoints do not fit`,
  notWhole: (rows: string) => `${rows}, not whole: `,
  unproven: (rows: string, reason: string) => unproven[reason] && `${rows}, ${unproven[reason]}`,
  badRow: (sequence: string) => `row ${sequence}`,
  because: (reason: string) => `, ${reasons[reason] ?? reason}`,
  head: 'hash of the head',
} as const
