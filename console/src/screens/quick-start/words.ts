export const words = {
  title: 'Quick start',
  intro: 'Each text is a file to paste. The key is read from the environment, so it stands in none of them.',
  model: 'Model',
  client: 'Client',
  key: 'The API key',
  keyText: 'Make one under API keys, or in the playground.',
  install: 'Install',
  shell: 'In a shell',
  check: 'Check',
  paste: (path: string) => `Put into ${path}`,
} as const
