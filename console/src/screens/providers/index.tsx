import { AddProvider } from '../../catalog/AddProvider.tsx'
import { Card } from '../../parts/Card.tsx'
import { RecordScreens } from '../../parts/RecordScreens.tsx'
import type { AddProps } from '../../parts/RecordScreens.tsx'
import { OneProvider } from './OneProvider.tsx'
import { ProviderList } from './ProviderList.tsx'
import { words } from './words.ts'
import classes from './providers.module.css'

/** Who answers, with which key, and whether they are well. */
export default function Providers() {
  return <RecordScreens at="/providers" words={words} One={OneProvider} List={ProviderList} Add={Add} />
}

function Add(props: AddProps) {
  return (
    <Card className={classes.form}>
      <AddProvider {...props} />
    </Card>
  )
}
