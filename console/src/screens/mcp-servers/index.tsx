import { RecordScreens } from '../../parts/RecordScreens.tsx'
import { AddServer } from './AddServer.tsx'
import { OneServer } from './OneServer.tsx'
import { ServerList } from './ServerList.tsx'
import { words } from './words.ts'

/** Which tools are served, and whether they are what was approved. */
export default function McpServers() {
  return <RecordScreens at="/mcp-servers" words={words} One={OneServer} List={ServerList} Add={AddServer} />
}
