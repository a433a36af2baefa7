// The command line imports it with every command, so it imports nothing itself.

/** The kinds of components that can be listed. */
export const kinds = [
  'stages',
  'actions',
  'slots',
  'codecs',
  'providers',
  'signals',
  'guards',
  'services',
  'records',
  'plugins',
  'errors',
] as const

export type Kind = (typeof kinds)[number]
