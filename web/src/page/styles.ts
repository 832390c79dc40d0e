// The page's stylesheets, in the order in which they may overrule one another.
import 'virtual:formulas.css';
import '../figure/base.css';
import './page.css';
import './course.css';
import '../claims/claims.css';
import '../figure/figure.css';
