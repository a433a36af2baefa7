import { createTheme, Input, InputWrapper, Menu, Popover } from '@mantine/core'
import type { CSSVariablesResolver } from '@mantine/core'

const sans = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
const mono = 'ui-monospace, "SF Mono", Menlo, Consolas, monospace'

/** Mantine's theme: the sizes of the console; its colours are the variables of `tokens.css`. */
export const theme = createTheme({
  fontFamily: sans,
  fontFamilyMonospace: mono,
  fontSizes: { xs: '11px', sm: '13px', md: '13px', lg: '18px', xl: '22px' },
  lineHeights: { xs: '16px', sm: '20px', md: '20px', lg: '24px', xl: '28px' },
  radius: { xs: '3px', sm: '5px', md: '7px', lg: '9px', xl: '12px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '20px' },
  defaultRadius: 'md',
  respectReducedMotion: true,
  headings: { fontFamily: sans, fontWeight: '600' },
  components: {
    Input: Input.extend({
      vars: () => ({
        wrapper: {
          '--input-height': '30px',
          '--input-fz': '13px',
          '--input-padding-y': '4px',
          '--input-asterisk-color': 'var(--bad)',
        },
      }),
    }),
    InputWrapper: InputWrapper.extend({
      vars: () => ({
        label: { '--input-label-size': '13px' },
        description: { '--input-description-size': '12px' },
        error: { '--input-error-size': '12px' },
        success: { '--input-success-size': '12px' },
      }),
    }),
    // What floats stays beside its control: inside a modal dialog, nothing else on the page can be reached.
    Popover: Popover.extend({ defaultProps: { withinPortal: false, floatingStrategy: 'fixed', radius: 'lg' } }),
    Menu: Menu.extend({ defaultProps: { withinPortal: false, floatingStrategy: 'fixed', radius: 'lg' } }),
    Combobox: { defaultProps: { withinPortal: false, floatingStrategy: 'fixed' } },
  },
})

const shared: Readonly<Record<string, string>> = {
  '--sans': sans,
  '--mono': mono,
  '--mantine-color-body': 'var(--panel)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-default': 'var(--panel)',
  '--mantine-color-default-hover': 'var(--sunken)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--border)',
  '--mantine-color-dimmed': 'var(--secondary)',
  '--mantine-color-placeholder': 'var(--faint)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--bad)',
  '--mantine-color-disabled': 'var(--sunken)',
  '--mantine-color-disabled-color': 'var(--faint)',
  '--mantine-color-disabled-border': 'var(--line)',
  '--mantine-primary-color-filled': 'var(--accent)',
  '--mantine-primary-color-filled-hover': 'var(--accent)',
  '--mantine-primary-color-light': 'var(--accent-weak)',
  '--mantine-primary-color-light-hover': 'var(--accent-weak)',
  '--mantine-primary-color-light-color': 'var(--accent)',
  '--mantine-primary-color-contrast': 'var(--on-accent)',
  '--mantine-shadow-md': 'var(--float)',
}

/** Puts the console's tokens in the place of Mantine's colours, the same names in both schemes. */
export const variables: CSSVariablesResolver = () => ({ variables: shared, light: shared, dark: shared })
