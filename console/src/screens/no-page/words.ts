export const words = {
  title: 'There is no page here',
  text: 'The address may be mistyped, or of a page that this version does not have.',
  toOverview: 'Go to Overview',
} as const
