import './page/styles.ts';
import { startPage } from './page/page.ts';

void startPage();
