import { quoted } from '../../parts/curl.ts'

export const words = {
  title: 'MCP servers',
  forbidden: 'MCP servers',
  add: 'Add MCP server',
  inFile: 'in file',
  none: '—',

  // The list
  emptyFiltered: 'No MCP server fits these filters.',
  search: 'Search MCP servers',
  source: 'Source',
  sources: { file: 'in file', database: 'made here' },
  enabledField: 'Enabled',
  yesNo: { true: 'yes', false: 'no' },
  empty:
    'No MCP servers yet. One that is added here is served to clients under this gateway’s address, with their API keys.',
  columns: {
    name: 'Name',
    state: 'State',
    tools: 'Tools',
    transport: 'Transport',
    address: 'Address or program',
    sessions: 'Sessions',
    description: 'Description',
  },
  transports: { http: 'HTTP', stdio: 'program' },
  states: {
    connected: 'connected',
    connecting: 'not tried yet',
    failed: 'failed',
    off: 'off',
  },
  changedTools: (count: number) => (count === 1 ? '1 tool changed' : `${count} tools changed`),
  asApproved: 'as approved',

  // One server
  tabs: 'Views of the server',
  tab: { tools: 'Tools', offers: 'Resources and prompts', settings: 'Settings' },
  check: 'Check now',
  checked: (name: string, milliseconds: string) => `${name} answers after ${milliseconds}.`,
  logs: 'Logs',
  delete: 'Delete',
  deleteNamed: (name: string) => `Delete ${name}`,
  deleted: (name: string) => `Deleted ${name}.`,
  deleteWhat: (sessions: number) =>
    `${sessions === 1 ? '1 open session ends' : `${sessions} open sessions end`}, and what was approved of its tools is forgotten. From then on clients are told that there is no such server.`,

  // For clients
  clients: 'For clients',
  clientsText: 'Paste this address into an MCP client, with an API key of this gateway as bearer token.',
  address: 'Address',
  otherClients: 'Other clients',
  copyAddress: 'address',
  claude: 'Claude Code',
  claudeCommand: (name: string, address: string) =>
    `claude mcp add --transport http ${quoted(name)} ${quoted(address)} --header "Authorization: Bearer $SLUICE_API_KEY"`,
  copyCommand: 'command',

  // State
  state: 'State',
  since: 'Since',
  server: 'Server',
  serverNamed: (name: string, version: string) => `${name} ${version}`,
  protocol: 'Protocol',
  latency: 'Opened in',
  sessions: 'Sessions',
  problem: 'Problem',

  // Tools
  toolsTable: 'Tools',
  fetched: 'asked',
  toolColumns: { name: 'Tool', state: 'State', offered: 'Clients', description: 'Description', hash: 'Hash' },
  approved: 'approved',
  changed: 'changed',
  offered: 'can use it',
  notOffered: 'left out',
  notOfferedBy: { allow: 'not in the list of allowed tools', deny: 'in the list of denied tools', refuse: 'changed' },
  noTools: 'The server offers no tools.',
  changedTitle: (count: number) =>
    count === 1 ? '1 tool is not what was approved' : `${count} tools are not what was approved`,
  changedNote: {
    report: 'Clients and their models still get it as it is now.',
    refuse: 'It is left out until it is approved.',
    ignore: '',
  },
  approve: 'Approve',
  approveNamed: (tool: string) => `Approve ${tool}`,
  approveAll: 'Approve all',
  approvedNow: (count: number) =>
    count === 1 ? 'Approved 1 tool as it is now.' : `Approved ${count} tools as they are now.`,
  notKept: 'How it was when it was approved is not kept, only its hash.',
  gone: (tool: string) => `The server offers no tool ${tool}.`,
  closeTool: 'Close tool',
  description: 'Description',
  noDescription: 'The server gives no description.',
  inputSchema: 'Input schema',
  hash: 'Hash',
  copyHash: 'hash',
  schemaField: 'input schema',
  descriptionField: 'description',

  // Resources and prompts
  resources: 'Resources',
  templates: 'Resource templates',
  prompts: 'Prompts',
  offers: { name: 'Name', uri: 'Address', description: 'Description' },
  noResources: 'The server offers no resources.',
  noTemplates: 'The server offers no resource templates.',
  noPrompts: 'The server offers no prompts.',

  // The form
  kind: 'What it is',
  kinds: { http: 'At an address (HTTP)', stdio: 'A program here (stdio)' },
  noPrograms:
    'The gateway starts no programs yet. The configuration file lists those that it may start, by mcp.allow_stdio: [{ command, arguments, cwd, environment }].',
  allowedPrograms: (lines: readonly string[]) =>
    `One of the programs that the configuration file allows, as it stands there: ${lines.join('; ')}. No shell.`,
  settings: 'Settings',
  fields: {
    name: ['Name', 'A part of the address for clients. It cannot be changed later.'],
    url: ['URL', 'Address of its MCP endpoint, such as https://docs.example/mcp.'],
    headers: ['Headers', 'Sent with every request to the server, such as its credentials. Values are kept as secrets.'],
    command: ['Command', ''],
    arguments: ['Arguments', 'One after the other, as the program gets them.'],
    environment: [
      'Environment',
      'Variables of the program that the file names, beside PATH. Values are kept as secrets.',
    ],
    cwd: ['Folder', 'Where the program runs.'],
    description: ['Description', 'What the server is for, for people.'],
    allow: ['Allowed tools', 'The only tools that clients get.'],
    deny: ['Denied tools', 'Tools that clients do not get.'],
    tools: ['Tools', 'Which tools clients see and may call.'],
    call_timeout: ['Call timeout', 'Longest silence of a call.'],
    allow_private: ['Allow private addresses', 'The server may be at a private or loopback address.'],
    shared: ['Shared', 'All sessions have one process. Only for programs that keep nothing of a session.'],
    restarts: ['Restarts', 'Most times a minute that the program is started again after it ended by itself.'],
    enabled: ['Enabled', 'Clients reach the server.'],
  },
  allTools: 'All tools',
  usualTimeout: 'As in the settings of MCP security',
} as const
