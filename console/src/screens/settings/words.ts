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
