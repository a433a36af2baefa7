export const words = {
  title: 'Settings',
  forbidden: 'settings',
  find: 'Find a setting',
  found: 'Settings found',
  none: 'No setting has this in its name or its text.',
  problem: (problem: string) => `This section is not in force: ${problem}`,
  reset: 'Reset to defaults',
  resetDone: (section: string) => `${section} is at its defaults.`,
  resetText: 'Every value of this section is what it was before anything was set. This takes effect at once.',
  resetTitle: (section: string) => `Reset ${section}`,
  saved: 'Saved. It is in force.',
  sections: 'Sections',
  targets: 'Targets of notifications',
  noTargets: 'Nobody is told yet. Each saved target stands here, with a way to try it.',
  neverTried: 'Nothing was sent yet.',
  reached: 'Reached',
  notReached: (problem: string | null) => `Not reached${problem === null ? '' : `: ${problem}`}`,
  sendTest: 'Send a test',
  toTarget: (name: string) => `to ${name}`,
  testDelivered: (name: string) => `${name} has taken the test.`,
  testFailed: (name: string, problem: string | null) =>
    `${name} has not taken the test${problem === null ? '' : `: ${problem}`}.`,
  changed: 'changed',
  inFile: 'in file',
  names: {
    cors: 'Other origins (CORS)',
    keepalive: 'Connections',
    logging: 'Logging',
    mcp_security: 'MCP security',
    provider_selection: 'Choice of places',
    rate_limits: 'Rate limits',
    request_policy: 'Request policy',
    resilience: 'Resilience',
    security: 'Security',
    smart_routing: 'Smart routing',
    web_search: 'Web search',
  } as Readonly<Record<string, string>>,
} as const

/** The name of a section, as people read it. */
export const nameOf = (section: string): string =>
  words.names[section] ?? section.slice(0, 1).toUpperCase() + section.slice(1).replaceAll('_', ' ')
