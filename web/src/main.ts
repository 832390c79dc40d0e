import 'virtual:formulas.css';
import './page/page.css';
import './page/course.css';
import './claims/claims.css';
import './figure/figure.css';
import { startPage } from './page/page.ts';

void startPage();
