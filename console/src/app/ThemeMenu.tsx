import { useMantineColorScheme } from '@mantine/core'
import type { MantineColorScheme } from '@mantine/core'
import { Button } from '../parts/Button.tsx'
import { Menu } from '../parts/Menu.tsx'
import { words } from './words.ts'

export function ThemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu>
      <Menu.Target>
        <Button
          look="quiet"
          icon={colorScheme === 'dark' ? 'dark' : colorScheme === 'light' ? 'light' : 'system'}
          aria-label={words.theme}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}>
          <Menu.RadioItem value="light">{words.light}</Menu.RadioItem>
          <Menu.RadioItem value="dark">{words.dark}</Menu.RadioItem>
          <Menu.RadioItem value="auto">{words.system}</Menu.RadioItem>
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  )
}
