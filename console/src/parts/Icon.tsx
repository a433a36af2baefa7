/** Outlines of 16 by 16, drawn with a line of 1.5. */
const outlines = {
  account: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c.5-3 2.7-4 5.5-4s5 1 5.5 4',
  'arrow-down': 'M8 3v10M4 9l4 4 4-4',
  'arrow-left': 'M13 8H3M7 4L3 8l4 4',
  'arrow-right': 'M3 8h10M9 4l4 4-4 4',
  'arrow-up': 'M8 13V3M4 7l4-4 4 4',
  audit: 'M8 1.5l5.5 2v4c0 3.5-2.5 6-5.5 7-3-1-5.5-3.5-5.5-7v-4zM5.5 8l1.8 1.8L10.6 6',
  bad: 'M5 1.2h6L14.8 5v6L11 14.8H5L1.2 11V5zM5.6 5.6l4.8 4.8m0-4.8l-4.8 4.8',
  bell: 'M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3zM6.5 14.5h3',
  book: 'M8 4C6.5 2.8 4.5 2.5 2 2.8v9.7c2.5-.3 4.5 0 6 1.2 1.5-1.2 3.5-1.5 6-1.2V2.8c-2.5-.3-4.5 0-6 1.2zM8 4v9.7',
  calendar: 'M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3M10.5 2v3',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  'chevron-down': 'M4 6l4 4 4-4',
  'chevron-right': 'M6 4l4 4-4 4',
  clock: 'M8 15A7 7 0 1 0 8 1a7 7 0 0 0 0 14zM8 4v4l2.5 2',
  close: 'M4 4l8 8M12 4l-8 8',
  columns: 'M2 3h12v10H2zM6 3v10M10 3v10',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  dark: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z',
  download: 'M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11',
  filter: 'M2 3h12L9.5 8.5V13l-3-1.5v-3z',
  flag: 'M4 14.5V2h8l-2 3.2 2 3.3H4',
  good: 'M8 15A7 7 0 1 0 8 1a7 7 0 0 0 0 14zM5 8.3l2 2 4-4.4',
  guards: 'M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3zM5 8h6',
  info: 'M8 15A7 7 0 1 0 8 1a7 7 0 0 0 0 14zM8 7.5v3.5M8 5v.1',
  keys: 'M10.5 9.5a4 4 0 1 0-3.8-2.7L2 11.5V14h2.5l4.7-4.7c.4.1.8.2 1.3.2zM11.5 4.5h.1',
  light:
    'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7',
  lock: 'M3.5 7h9v7h-9zM5.5 7V4.5a2.5 2.5 0 0 1 5 0V7',
  logs: 'M2 4h12M2 8h12M2 12h8',
  'mcp-servers': 'M5 2v3M11 2v3M3 5h10v3a5 5 0 0 1-10 0zM8 13v2',
  menu: 'M2 4h12M2 8h12M2 12h12',
  minus: 'M3 8h10',
  models: 'M8 1.5l6 3.2v6.6l-6 3.2-6-3.2V4.7zM2 4.7l6 3.3 6-3.3M8 8v6.5',
  off: 'M8 15A7 7 0 1 0 8 1a7 7 0 0 0 0 14zM5 8h6',
  open: 'M6 3H3v10h10v-3M9 3h4v4M13 3L7.5 8.5',
  overview: 'M2 13h12M3 10l3-3 3 2 4-5',
  pause: 'M5.5 3v10M10.5 3v10',
  pipelines: 'M8 1v3M8 12v3M4 4h8v3H4zM4 9h8v3H4z',
  playground: 'M3 3h10v8H7l-3 3v-3H3z',
  plus: 'M8 3v10M3 8h10',
  providers: 'M2 3h12v4H2zM2 9h12v4H2zM5 5h.1M5 11h.1',
  'quick-start': 'M4 5l3 3-3 3M9 12h4',
  reload: 'M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3',
  routing: 'M3 2v4c0 3 10 2 10 8M13 2v3c0 3-10 3-10 9',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7L14 14',
  settings: 'M2 4h7M13 4h1M2 8h2M8 8h6M2 12h6M12 12h2M11 2.5v3M6 6.5v3M10 10.5v3',
  system: 'M2 3h12v8H2zM6 14h4M8 11v3',
  tag: 'M2 2.5h5.5L14 9l-5 5-7-6.5zM5 5.5h.1',
  trash: 'M3 4h10M6 4V2.5h4V4M4.5 4l.5 9.5h6l.5-9.5',
  warning: 'M8 1.6L15 14H1zM8 6.2v3.4M8 11.6v.4',
} as const

export type IconName = keyof typeof outlines

/** A picture beside a word: it says nothing by itself to those who cannot see it. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={outlines[name]} />
    </svg>
  )
}
