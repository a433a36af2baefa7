import { RecordScreens } from '../../parts/RecordScreens.tsx'
import { AddGuard } from './AddGuard.tsx'
import { GuardList } from './GuardList.tsx'
import { OneGuard } from './OneGuard.tsx'
import { words } from './words.ts'

/** Who judges requests and answers, and what came of it. */
export default function Guards() {
  return <RecordScreens at="/guards" words={words} One={OneGuard} List={GuardList} Add={AddGuard} />
}
